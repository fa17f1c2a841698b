; The setup for Windows, per user and without administrator rights. makensis is
; given VERSION as it is shown, NUMBER as four numbers, PROGRAMS, the folder with
; what is installed, ICON and OUT, the file to make: see build/package-windows.sh.
; With QUICK it is made in a second, and not compressed.
;
; What starts at login, and what is restarted, is decided by the verbs install and
; uninstall of the program itself. Here its files are put in place and taken away.

Unicode true
Target amd64-unicode
; The two large programs differ in a few bytes. The dictionary holds both, so
; that the second costs next to nothing.
!ifdef QUICK
SetCompress off
!else
SetCompressor /SOLID /FINAL lzma
SetCompressorDictSize 64
!endif

Name "Lamplighter"
OutFile "${OUT}"
Icon "${ICON}"
UninstallIcon "${ICON}"
RequestExecutionLevel user
ManifestDPIAware true
ManifestLongPathAware true
ManifestSupportedOS Win10
BrandingText "Lamplighter ${VERSION}"
AllowSkipFiles off
ShowInstDetails nevershow
ShowUninstDetails nevershow
InstallDir "$LOCALAPPDATA\Programs\Lamplighter"
InstallDirRegKey HKCU "Software\Microsoft\Windows\CurrentVersion\Uninstall\Lamplighter" "InstallLocation"

VIProductVersion "${NUMBER}"
VIFileVersion "${NUMBER}"
VIAddVersionKey "ProductName" "Lamplighter"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Lamplighter Setup"
VIAddVersionKey "CompanyName" "The Lamplighter authors"
VIAddVersionKey "LegalCopyright" "MIT License, © The Lamplighter authors"

!include "MUI2.nsh"
!include "LogicLib.nsh"
!include "FileFunc.nsh"
!include "WinVer.nsh"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Lamplighter"
!define RUN_KEY "Software\Microsoft\Windows\CurrentVersion\Run"
!define APPROVED_KEY "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
!define LINK "$SMPROGRAMS\Lamplighter.lnk"
!define ASIDE ".lamplighter-old"
!define HKEY_CURRENT_USER -2147483647
!define RRF_RT_ANY 0xffff
!define ERROR_ALREADY_EXISTS 183

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_WELCOMEPAGE_TITLE "Lamplighter ${VERSION}"
!define MUI_WELCOMEPAGE_TEXT "One lamp in your tray for every MCP server on your machine.$\r$\n$\r$\nIt is installed for you alone, into$\r$\n$INSTDIR,$\r$\nand starts when you log in. Its menu has a switch for that.$\r$\n$\r$\nOne that is running goes on with the new version, and your servers are not ended."
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_LICENSE "${PROGRAMS}/LICENSE.txt"
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_NOAUTOCLOSE
!define MUI_PAGE_CUSTOMFUNCTION_PRE leaveRunning
!define MUI_FINISHPAGE_RUN "$INSTDIR\lamplighter-tray.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start Lamplighter"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Var upgrade ; 1 over an installation by this setup
Var atLogin ; "" or the word that leaves start at login as the user has it
Var running ; 1 when a program of it runs
Var failed  ; 1 when the programs could not be put in place

; Two setups at once would mix their files.
!macro OneAtATime
  System::Call 'kernel32::CreateMutex(p 0, i 0, t "lamplighter-setup") p .r0 ?e'
  Pop $0
  ${If} $0 = ${ERROR_ALREADY_EXISTS}
    MessageBox MB_OK|MB_ICONEXCLAMATION "Lamplighter is being installed or removed already. Wait until that has ended." /SD IDOK
    SetErrorLevel 3
    Quit
  ${EndIf}
!macroend

Function .onInit
  !insertmacro OneAtATime
  ${IfNot} ${AtLeastWin10}
    MessageBox MB_OK|MB_ICONSTOP "Lamplighter needs Windows 10 or newer." /SD IDOK
    SetErrorLevel 4
    Quit
  ${EndIf}
FunctionEnd

Function un.onInit
  !insertmacro OneAtATime
FunctionEnd

; How the user has start at login: an upgrade does not switch it on again for who
; has switched it off, in the menu or in the Task Manager (first byte odd).
Function lookAtLogin
  StrCpy $atLogin ""
  ReadRegStr $0 HKCU "${UNINSTALL_KEY}" "UninstallString"
  ${If} $0 == ""
    StrCpy $upgrade 0
    Return
  ${EndIf}
  StrCpy $upgrade 1
  ReadRegStr $0 HKCU "${RUN_KEY}" "Lamplighter"
  ${If} $0 == ""
    StrCpy $atLogin "--no-login"
    Return
  ${EndIf}
  System::Alloc 64
  Pop $1
  System::Call 'advapi32::RegGetValueW(p ${HKEY_CURRENT_USER}, w "${APPROVED_KEY}", w "Lamplighter", i ${RRF_RT_ANY}, p 0, p r1, *i 64) i .r0'
  ${If} $0 = 0
    System::Call '*$1(&i1 .r2)'
    IntOp $2 $2 & 1
    ${If} $2 = 1
      StrCpy $atLogin "--no-login"
    ${EndIf}
  ${EndIf}
  System::Free $1
  ClearErrors
FunctionEnd

; A program that runs can be given another name and not be replaced: its file goes
; aside under the first name that is free.
!macro PutAside FILE
  ${If} ${FileExists} "$INSTDIR\${FILE}"
    StrCpy $1 0
    ${Do}
      IntOp $1 $1 + 1
      Delete "$INSTDIR\${FILE}${ASIDE}$1"
    ${LoopWhile} ${FileExists} "$INSTDIR\${FILE}${ASIDE}$1"
    ClearErrors
    Rename "$INSTDIR\${FILE}" "$INSTDIR\${FILE}${ASIDE}$1"
    ${If} ${Errors}
      StrCpy $failed 1
    ${EndIf}
  ${Else}
    StrCpy $1 0
  ${EndIf}
!macroend

; The new file into the place of the one before, whose number is left in ${NUMBER}.
!macro Exchange FILE NUMBER
  ${If} $failed = 0
    !insertmacro PutAside "${FILE}"
    StrCpy ${NUMBER} $1
    ${If} $failed = 0
      ClearErrors
      Rename "$INSTDIR\new\${FILE}" "$INSTDIR\${FILE}"
      ${If} ${Errors}
        StrCpy $failed 1
      ${EndIf}
    ${EndIf}
  ${EndIf}
!macroend

!macro TakeBack FILE NUMBER
  ${If} ${NUMBER} > 0
  ${AndIf} ${FileExists} "$INSTDIR\${FILE}${ASIDE}${NUMBER}"
    Delete "$INSTDIR\${FILE}"
    Rename "$INSTDIR\${FILE}${ASIDE}${NUMBER}" "$INSTDIR\${FILE}"
  ${EndIf}
!macroend

!macro StillRuns FILE NUMBER
  ${If} ${NUMBER} > 0
    Delete "$INSTDIR\${FILE}${ASIDE}${NUMBER}"
    ${If} ${FileExists} "$INSTDIR\${FILE}${ASIDE}${NUMBER}"
      StrCpy $running 1
    ${EndIf}
  ${EndIf}
!macroend

Function .onInstFailed
  RMDir /r "$INSTDIR\new"
  RMDir "$INSTDIR"
  SetErrorLevel 2
FunctionEnd

; The page that offers to start it is not for one that goes on running.
Function leaveRunning
  ${If} $running = 1
    Abort
  ${EndIf}
FunctionEnd

Section
  StrCpy $running 0
  StrCpy $failed 0
  Call lookAtLogin

  ; All is unpacked before anything is replaced, so that a full disk changes nothing.
  RMDir /r "$INSTDIR\new"
  SetOutPath "$INSTDIR\new"
  File "${PROGRAMS}/lamplighter.exe"
  File "${PROGRAMS}/lamplighter-tray.exe"
  File "${PROGRAMS}/lamplighter-connect.exe"
  File "${PROGRAMS}/LICENSE.txt"
  File "${PROGRAMS}/licences-of-libraries.txt"
  File "${PROGRAMS}/package"
  WriteUninstaller "$INSTDIR\new\uninstall.exe"
  ${IfNot} ${FileExists} "$INSTDIR\new\uninstall.exe"
    Abort "The disk is full, or $INSTDIR cannot be written to. Nothing was changed."
  ${EndIf}

  SetOutPath "$INSTDIR"
  StrCpy $R1 0
  StrCpy $R2 0
  StrCpy $R3 0
  StrCpy $R4 0
  StrCpy $R5 0
  StrCpy $R6 0
  StrCpy $R7 0
  !insertmacro Exchange "lamplighter.exe" $R1
  !insertmacro Exchange "lamplighter-tray.exe" $R2
  !insertmacro Exchange "lamplighter-connect.exe" $R3
  !insertmacro Exchange "LICENSE.txt" $R4
  !insertmacro Exchange "licences-of-libraries.txt" $R5
  !insertmacro Exchange "package" $R6
  !insertmacro Exchange "uninstall.exe" $R7
  ${If} $failed = 1
    !insertmacro TakeBack "lamplighter.exe" $R1
    !insertmacro TakeBack "lamplighter-tray.exe" $R2
    !insertmacro TakeBack "lamplighter-connect.exe" $R3
    !insertmacro TakeBack "LICENSE.txt" $R4
    !insertmacro TakeBack "licences-of-libraries.txt" $R5
    !insertmacro TakeBack "package" $R6
    !insertmacro TakeBack "uninstall.exe" $R7
    Abort "The programs in $INSTDIR could not be replaced. Those that were there are still there; end Lamplighter in its menu and run this again."
  ${EndIf}
  RMDir "$INSTDIR\new"
  !insertmacro StillRuns "lamplighter.exe" $R1
  !insertmacro StillRuns "lamplighter-tray.exe" $R2
  Delete "$INSTDIR\*${ASIDE}*"

  CreateShortcut "${LINK}" "$INSTDIR\lamplighter-tray.exe" "" "$INSTDIR\lamplighter-tray.exe" 0 SW_SHOWNORMAL "" "One lamp for every MCP server"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Lamplighter"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\lamplighter-tray.exe,0"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "The Lamplighter authors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" $0

  ; The verb restarts the one that runs. Where none does, the last page offers to
  ; start it, and a silent setup leaves it for the next login.
  ${If} $running = 1
    nsExec::ExecToLog '"$INSTDIR\lamplighter.exe" install $atLogin'
  ${Else}
    nsExec::ExecToLog '"$INSTDIR\lamplighter.exe" install --no-start $atLogin'
  ${EndIf}
  Pop $0
  ${If} $0 != 0
    SetDetailsView show
    DetailPrint "Lamplighter was installed, and this did not work: lamplighter install"
    MessageBox MB_OK|MB_ICONEXCLAMATION "Lamplighter was installed, but could not be made to start when you log in. Its page says why: run $\"lamplighter doctor$\" in $INSTDIR." /SD IDOK
    SetErrorLevel 1
  ${EndIf}
  Delete "$INSTDIR\*${ASIDE}*" ; those that have ended for the restart
SectionEnd

; What still runs, under a client for instance, leaves the folder and ends there.
!macro TakeAway FILE
  Delete "$INSTDIR\${FILE}"
  ${If} ${FileExists} "$INSTDIR\${FILE}"
    GetTempFileName $1
    Delete "$1"
    Rename "$INSTDIR\${FILE}" "$1"
  ${EndIf}
!macroend

Section "Uninstall"
  ; Clients that start Lamplighter would not find it any more.
  StrCpy $0 "--keep-setup"
  ${IfNot} ${Silent}
    MessageBox MB_YESNO|MB_ICONQUESTION "Take Lamplighter out of the settings of your MCP clients as well, where $\"lamplighter setup$\" has put it? They get the commands back that they had before." /SD IDNO IDNO keep
    StrCpy $0 "--undo-setup"
    keep:
  ${EndIf}
  nsExec::ExecToLog '"$INSTDIR\lamplighter.exe" uninstall --keep-programs --yes $0'
  Pop $0
  ${If} $0 != 0
    SetDetailsView show
    MessageBox MB_OKCANCEL|MB_ICONEXCLAMATION "Lamplighter could not take back all that it has written, see the details. Remove the programs all the same?" /SD IDOK IDOK remove
    SetErrorLevel 1
    Abort
    remove:
  ${EndIf}

  DeleteRegValue HKCU "${RUN_KEY}" "Lamplighter"
  DeleteRegValue HKCU "${APPROVED_KEY}" "Lamplighter"
  DeleteRegKey HKCU "Software\Classes\AppUserModelId\Lamplighter" ; written by its first notification
  Delete "${LINK}"
  !insertmacro TakeAway "lamplighter.exe"
  !insertmacro TakeAway "lamplighter-tray.exe"
  !insertmacro TakeAway "lamplighter-connect.exe"
  Delete "$INSTDIR\*${ASIDE}*"
  ${For} $2 1 9
    !insertmacro TakeAway "lamplighter.exe${ASIDE}$2"
    !insertmacro TakeAway "lamplighter-tray.exe${ASIDE}$2"
    !insertmacro TakeAway "lamplighter-connect.exe${ASIDE}$2"
  ${Next}
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\licences-of-libraries.txt"
  Delete "$INSTDIR\package"
  Delete "$INSTDIR\uninstall.exe"
  RMDir /r "$INSTDIR\new"
  SetOutPath "$TEMP" ; a folder that is the current one stays
  RMDir "$INSTDIR"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
SectionEnd
