#!/usr/bin/python3
"""editors/vscode/vsix.py FOLDER OUT: the extension in FOLDER as a package that Visual Studio Code installs, which is a zip archive with
two files about its contents. The same files give the same bytes."""
import json
import os
import sys
import zipfile

TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="application/javascript"/><Default Extension=".txt" ContentType="text/plain"/><Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>
"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{name}" Version="{version}" Publisher="{publisher}"/>
    <DisplayName>{displayName}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>Programming Languages</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/></Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def main():
    folder, out = sys.argv[1:]
    package = json.load(open(os.path.join(folder, "package.json"), encoding="utf-8"))
    files = {"[Content_Types].xml": TYPES,
             "extension.vsixmanifest": MANIFEST.format(engine=package["engines"]["vscode"], **package),
             "extension/LICENSE.txt": open("LICENSE", encoding="utf-8").read()}
    for name in sorted(os.listdir(folder)):
        files["extension/" + name] = open(os.path.join(folder, name), encoding="utf-8").read()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in files.items():
            z.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)
    print(out)


main()
