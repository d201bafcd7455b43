# Makes Holdfast a Windows service with WinSW 2.x. Run as administrator; running it again is harmless.
#   install.ps1 -WinSW C:\Downloads\WinSW-x64.exe [-Directory C:\ProgramData\Holdfast] [-Uninstall]
# Expects holdfast.xml, which `holdfast service install` writes, in the directory.
param(
  [string] $WinSW,
  [string] $Directory = (Join-Path $env:ProgramData 'Holdfast'),
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

if (-not (Test-Path (Join-Path $Directory 'holdfast.xml'))) { throw "There is no holdfast.xml in $Directory" }
foreach ($name in 'state', 'logs') { New-Item -ItemType Directory -Force -Path (Join-Path $Directory $name) | Out-Null }
# Only the system and administrators: keys lie here. SIDs, because the names are translated.
icacls $Directory /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' /Q | Out-Null
if ($LASTEXITCODE -ne 0) { throw "The permissions of $Directory cannot be set" }

if ($known -and $known.Status -ne 'Stopped') { Stop-Service -Name holdfast }
if ($WinSW) { Copy-Item -Force $WinSW $program }
if (-not (Test-Path $program)) { throw 'Name the WinSW 2.x executable with -WinSW' }
if (-not $known) { Invoke-Wrapper 'install' }
Start-Service -Name holdfast
