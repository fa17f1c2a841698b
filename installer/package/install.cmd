@echo off
rem Installs Lamplighter for the user who runs this, without administrator
rem rights. Arguments are those of: lamplighter install --help
setlocal DisableDelayedExpansion
"%~dp0lamplighter.exe" install %*
set "status=%errorlevel%"
rem After a double click the window would go with all that was said in it.
setlocal EnableDelayedExpansion
if "%~1"=="" if /i not "!cmdcmdline: /c ""=!"=="!cmdcmdline!" pause
exit /b %status%
