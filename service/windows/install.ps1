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

if ($Uninstall) {
  if ($known) {
    if ($known.Status -ne 'Stopped') { Stop-Service -Name holdfast }
    Invoke-Wrapper 'uninstall'
  }
  return
}

# Everybody may make directories where this one lies: what another user has made, or put in it, would run as the system.
function Protect-Directory {
  New-Item -ItemType Directory -Force -Path $Directory | Out-Null
  $item = Get-Item -Force $Directory
  if ($item.Attributes -band [IO.FileAttributes]::ReparsePoint) { throw "$Directory is a link: remove it" }
  $owner = (Get-Acl $Directory).GetOwner([Security.Principal.SecurityIdentifier]).Value
  if ($owner -notin 'S-1-5-18', 'S-1-5-32-544', [Security.Principal.WindowsIdentity]::GetCurrent().User.Value) {
    throw "$Directory was made by somebody else ($owner): look at what is in it, and remove it"
  }
  # Only the system and administrators: keys lie here. SIDs, because the names are translated.
  icacls $Directory /setowner '*S-1-5-32-544' /Q | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "The owner of $Directory cannot be set" }
  icacls $Directory /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' /Q | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "The permissions of $Directory cannot be set" }
}

Protect-Directory
if ($Prepare) { return }

if (-not (Test-Path (Join-Path $Directory 'holdfast.xml'))) { throw "There is no holdfast.xml in $Directory" }
foreach ($name in 'state', 'logs') { New-Item -ItemType Directory -Force -Path (Join-Path $Directory $name) | Out-Null }

if ($known -and $known.Status -ne 'Stopped') { Stop-Service -Name holdfast }
if ($WinSW) { Copy-Item -Force $WinSW $program }
if (-not (Test-Path $program)) { throw 'Name the WinSW 2.x executable with -WinSW' }
if (-not $known) { Invoke-Wrapper 'install' }
Start-Service -Name holdfast
