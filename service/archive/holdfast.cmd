@echo off
rem Starts Holdfast from the folder that it was unpacked into, with the Node.js in it.
"%~dp0bin\node.exe" "%~dp0service\bin\holdfast.js" %*
