"""check-macos.py DIR VERSION COMPONENT: checks DIR/Lamplighter.app and
DIR/distribution.xml as macOS reads them, and the list of bundles COMPONENT."""

import plistlib
import struct
import sys
import xml.etree.ElementTree
from pathlib import Path

directory, version, component = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
contents = directory / "Lamplighter.app" / "Contents"
faults = []


def expect(what, got, want):
    if got != want:
        faults.append(f"{what} is {got!r}, want {want!r}")


info = plistlib.loads((contents / "Info.plist").read_bytes())
for key, want in {
    "CFBundlePackageType": "APPL",
    "CFBundleIdentifier": "lamplighter",
    "CFBundleShortVersionString": version,
    "CFBundleVersion": version,
    "LSUIElement": True,
    "NSHighResolutionCapable": True,
}.items():
    expect(key, info.get(key), want)
if "@" in (contents / "Info.plist").read_text():
    faults.append("Info.plist has a place that was not filled")

# Mach-O: the magic of a 64-bit file, its processor (arm64) and its kind
# (a program). Source: <mach-o/loader.h>.
for name in [info["CFBundleExecutable"], "lamplighter-connect"]:
    program = contents / "MacOS" / name
    magic, processor, _, kind = struct.unpack("<IIII", program.read_bytes()[:16])
    expect(f"the head of {name}", (hex(magic), hex(processor), kind), ("0xfeedfacf", "0x100000c", 2))
    expect(f"the mode of {name}", oct(program.stat().st_mode & 0o777), "0o755")

icon = (contents / "Resources" / info["CFBundleIconFile"]).read_bytes()
expect("the head of the icon", icon[:8], b"icns" + struct.pack(">I", len(icon)))
expect("PkgInfo", (contents / "PkgInfo").read_bytes(), b"APPL????")
found = sorted(str(p.relative_to(contents)) for p in contents.rglob("*") if p.is_file())
expect("what is in the bundle", found, sorted([
    "Info.plist", "PkgInfo", "MacOS/lamplighter", "MacOS/lamplighter-connect",
    "Resources/LICENSE", "Resources/lamplighter.icns", "Resources/licences-of-libraries.txt",
]))

bundles = plistlib.loads(component.read_bytes())
expect("the bundles of the package", [b["RootRelativeBundlePath"] for b in bundles], ["Applications/Lamplighter.app"])
expect("whether it may lie elsewhere", bundles[0]["BundleIsRelocatable"], False)

script = xml.etree.ElementTree.parse(directory / "distribution.xml").getroot()
domains = script.find("domains").attrib
expect("where it may be installed", domains, {
    "enable_anywhere": "false", "enable_currentUserHome": "true", "enable_localSystem": "false",
})
choices = {c.get("id"): [r.get("id") for r in c.findall("pkg-ref")] for c in script.findall("choice")}
expect("the choices", choices, {line.get("choice"): ["lamplighter"] for line in script.iter("line")})
refs = {r.get("id"): (r.get("version"), r.text) for r in script.findall("pkg-ref")}
expect("the packages in it", refs, {"lamplighter": (version, "lamplighter-component.pkg")})

for fault in faults:
    print("check-macos.py:", fault, file=sys.stderr)
sys.exit(1 if faults else 0)
