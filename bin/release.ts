import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { billOfMaterials, componentsOf, type Lock, licenceTable } from './bill-of-materials.ts'

// `npm run release`: writes what a release publishes to a folder. --out names the folder.

const root = path.join(import.meta.dirname, '..')

/** Folders with code that the server runs. */
const CODE = ['src', 'sdk/src']
/** Besides the code. `web/dist` is the built web app. */
const OTHER_FILES = [
  'bin/carrel.cjs',
  'bin/hand-over.cjs',
  'bin/node-flags.cjs',
  'deploy',
  'web/dist',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
]
const ONLY_FOR_TESTS = /\.(?:test|fixture|contract)\.ts$|\.d\.ts$/

interface Manifest {
  readonly version: string
  readonly [key: string]: unknown
}

/** Writes the package, with its checksums, bill of materials, licences and notes. Returns the file of the package. */
export function buildRelease(out: string): string {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-release-'))
  try {
    for (const file of OTHER_FILES)
      cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
    for (const file of globSync(
      CODE.map((name) => `${name}/**/*.*`),
      { cwd: root },
    ))
      copyCode(file, folder)
    writeFileSync(
      path.join(folder, 'package.json'),
      `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`,
    )
    npm(['pack', '--silent', '--pack-destination', out], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const components = componentsOf(
    JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as Lock,
  )
  const bill = JSON.stringify(billOfMaterials(components, manifest.version), null, 2)
  writeFileSync(path.join(out, 'sbom.cdx.json'), `${bill}\n`)
  writeFileSync(path.join(out, 'licences.md'), licenceTable(components))
  writeFileSync(path.join(out, 'notes.md'), notesOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')))
  writeFileSync(path.join(out, 'SHA256SUMS'), checksumsOf(out))
  return path.join(out, `carrel-${manifest.version}.tgz`)
}

/** Copies a file of the code. Node strips no types below `node_modules`, where a package is installed, so they are stripped here. */
function copyCode(file: string, folder: string): void {
  if (ONLY_FOR_TESTS.test(file)) return
  const target = path.join(folder, file)
  mkdirSync(path.dirname(target), { recursive: true })
  const source = readFileSync(path.join(root, file))
  if (!/\.m?[jt]s$/.test(file)) return writeFileSync(target, source)
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(String(source)) : String(source)
  writeFileSync(target.replace(/\.ts$/, '.js'), withJavaScriptNames(code, path.dirname(file)))
}

/** Code that names the files of the package: imports, and the entries of workers, which are paths relative to the file. */
export function withJavaScriptNames(code: string, folder: string): string {
  return code.replace(/(['"])((?:[\w.-]+\/)*[\w.-]+)\.ts\1/g, (text, quote: string, name: string) =>
    existsSync(path.join(root, folder, `${name}.ts`)) ? `${quote}${name}.js${quote}` : text,
  )
}

/** What is for the checkout alone is left out. */
function publishedManifest(manifest: Manifest): object {
  const {
    private: _private,
    workspaces: _workspaces,
    scripts: _scripts,
    allowScripts: _allow,
    ...rest
  } = manifest
  const { devDependencies: _dev, overrides: _overrides, files: _files, ...published } = rest
  return published
}

/** The newest section of the changelog. */
export function notesOf(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## /m)
  return `# Carrel ${newest.trim()}\n`
}

/** In the format of `sha256sum --check`. */
function checksumsOf(folder: string): string {
  const names = globSync('*', { cwd: folder, exclude: ['SHA256SUMS'] }).sort()
  const lines = names.map((name) => {
    const hash = createHash('sha256')
      .update(readFileSync(path.join(folder, name)))
      .digest('hex')
    return `${hash}  ${name}\n`
  })
  return lines.join('')
}

function npm(args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: path.join(root, 'release') } } })
  console.log(`Written: ${buildRelease(path.resolve(values.out))}`)
}
