# Makes Holdfast a Windows service with WinSW 2.x. Run as administrator; running it again is harmless.
#   install.ps1 -WinSW C:\Downloads\WinSW-x64.exe [-Directory C:\ProgramData\Holdfast] [-Prepare] [-Uninstall]
# Expects holdfast.xml, which `holdfast service install` writes, in the directory.
param(
  [string] $WinSW,
  [string] $Directory = (Join-Path $env:ProgramData 'Holdfast'),
  [switch] $Prepare,
  [switch] $Uninstall
)
$ErrorActionPreference = 'Stop'
$program = Join-Path $Directory 'holdfast.exe'
$known = Get-Service -Name holdfast -ErrorAction SilentlyContinue

# The exit code of a program does not stop a script by itself.
function Invoke-Wrapper([string] $Verb) {
  & $program $Verb
  if ($LASTEXITCODE -ne 0) { throw "holdfast.exe $Verb ended with $LASTEXITCODE" }
}

# Everybody may make directories where this one lies: what another user has made, or put in it, would run as the system.
$sid = [Security.Principal.SecurityIdentifier]
$trusted = 'S-1-5-18', 'S-1-5-32-544', [Security.Principal.WindowsIdentity]::GetCurrent().User.Value
# Write, append, delete, change attributes, permissions or owner; and the generic rights that hold them.
$writing = 0x500D0156

# Why somebody else may decide what lies there; nothing when nobody may. A link is looked at itself.
function Get-Doubt([string] $Path) {
  $item = Get-Item -Force -LiteralPath $Path
  if ($item.Attributes -band [IO.FileAttributes]::ReparsePoint) { return 'is a link' }
  $acl = Get-Acl -LiteralPath $Path
  $owner = $acl.GetOwner($sid).Value
  if ($owner -notin $trusted) { return "was made by somebody else ($owner)" }
  foreach ($rule in $acl.GetAccessRules($true, $true, $sid)) {
    $who = $rule.IdentityReference.Value
    $isOnlyHandedDown = $rule.PropagationFlags -band [Security.AccessControl.PropagationFlags]::InheritOnly
    if ($rule.AccessControlType -ne 'Allow' -or $isOnlyHandedDown -or $who -in $trusted) { continue }
    if ([int] $rule.FileSystemRights -band $writing) { return "may be written to by others ($who)" }
  }
}

# With its permissions from the first moment on: nobody can put anything in it before it has them.
function New-OwnDirectory {
  $security = New-Object Security.AccessControl.DirectorySecurity
  $security.SetSecurityDescriptorSddlForm('O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)')
  if ($PSVersionTable.PSEdition -eq 'Core') { [IO.FileSystemAclExtensions]::CreateDirectory($security, $Directory) | Out-Null }
  else { [IO.Directory]::CreateDirectory($Directory, $security) | Out-Null }
  $doubt = Get-Doubt $Directory
  if ($doubt) { throw "$Directory $doubt, just now: run this again" }
  if (Get-ChildItem -Force -LiteralPath $Directory) { throw "Somebody has just put something in ${Directory}: run this again" }
}

# SIDs, because the names are translated. Of the directory alone, and of a link the link (/L): what is in it may lead anywhere.
function Set-Owner([string] $Path) {
  icacls $Path /setowner '*S-1-5-32-544' /L /Q | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "The owner of $Path cannot be set" }
}

# Only the system and administrators: keys lie here. What is in it gets them, too, so only where that is known.
function Set-Permissions([string] $Path) {
  icacls $Path /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' /L /Q | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "The permissions of $Path cannot be set" }
}

# Nothing of it is run, and nothing is lost: it may be an installation of somebody's, with keys.
function Move-Aside([string] $Why) {
  $aside = "$Directory.aside-$(Get-Date -Format 'yyyyMMddHHmmss')"
  [IO.Directory]::Move($Directory, $aside)
  Set-Owner $aside
  throw "$Directory $Why. It lies in $aside now, with all that is in it, and belongs to the administrators. " +
    "Run this again for a new one. If it was an installation of yours, look at what is in it, and put its state directory " +
    "in the new one before the service starts: keys and settings are in it."
}

function Protect-Directory {
  if (-not (Get-Item -Force -LiteralPath $Directory -ErrorAction SilentlyContinue)) { New-OwnDirectory; return }
  try { $doubt = Get-Doubt $Directory } catch { $doubt = "cannot be looked at ($_)" }
  if ($doubt) { Move-Aside $doubt }
  # What was put in it before it had these permissions.
  $parts = @(Get-ChildItem -Force -LiteralPath $Directory)
  $doubtful = @($parts | Where-Object { Get-Doubt $_.FullName })
  if (-not $doubtful) {
    $inner = @($parts | Where-Object { $_.PSIsContainer } | ForEach-Object { Get-ChildItem -Force -LiteralPath $_.FullName })
    $doubtful = @($inner | Where-Object { Get-Doubt $_.FullName })
  }
  if ($doubtful) {
    $names = ($doubtful | ForEach-Object { "$($_.FullName) $(Get-Doubt $_.FullName)" }) -join '; '
    throw "Nothing was changed or started. ${names}. Move what you do not know to another place. What is yours give to the " +
      "administrators, as with: icacls PATH /setowner *S-1-5-32-544 /L, and icacls PATH /reset /L; then run this again."
  }
  Set-Owner $Directory
  Set-Permissions $Directory
}

if ($Uninstall) {
  if ($known) {
    if ($known.Status -ne 'Stopped') { Stop-Service -Name holdfast }
    foreach ($path in $Directory, $program) {
      $doubt = Get-Doubt $path
      if ($doubt) { throw "$path ${doubt}: it is not run. Take the service away with: sc.exe delete holdfast" }
    }
    Invoke-Wrapper 'uninstall'
  }
  return
}

Protect-Directory
if ($Prepare) { return }

if (-not (Test-Path (Join-Path $Directory 'holdfast.xml'))) { throw "There is no holdfast.xml in $Directory" }
foreach ($name in 'state', 'logs') { [IO.Directory]::CreateDirectory((Join-Path $Directory $name)) | Out-Null }

if ($known -and $known.Status -ne 'Stopped') { Stop-Service -Name holdfast }
if ($WinSW) { Copy-Item -Force $WinSW $program }
if (-not (Test-Path $program)) { throw 'Name the WinSW 2.x executable with -WinSW' }
if (-not $known) { Invoke-Wrapper 'install' }
Start-Service -Name holdfast
