import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import {
  billOfMaterials,
  componentsOf,
  componentsOfWebApp,
  type Lock,
  licenceTable,
} from './bill-of-materials.ts'
import { bundleRelease } from './release-bundle.ts'

// `npm run release`: writes what a release publishes to a folder. --out names the folder.

const root = path.join(import.meta.dirname, '..')

/** Besides the code of the server. `web/dist` is the built web app. */
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

const LEGAL_FILE = /^(?:licen[cs]e|copying|notice)(?:[-.](?:md|markdown|txt|mit|apache\S*))*$/i

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

/** Writes the package, with its checksums, bill of materials, licences and notes. Returns the file of the package. */
export async function buildRelease(out: string): Promise<string> {
  const manifest = readJson('package.json') as Manifest
  const lock = readJson('package-lock.json') as Lock
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-release-'))
  try {
    for (const file of OTHER_FILES)
      cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
    removeConvertible(path.join(folder, 'web/dist'))
    const { imported, contained } = await bundleRelease(root, folder)
    writeFileSync(
      path.join(folder, 'package.json'),
      `${JSON.stringify(publishedManifest(manifest, imported), null, 2)}\n`,
    )
    const bundled = new Set([...contained, ...componentsOfWebApp(lock).map((component) => component.folder)])
    writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf([...bundled].sort()))
    npm(['pack', '--silent', '--pack-destination', out], folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const components = componentsOf(lock)
  const bill = JSON.stringify(billOfMaterials(components, manifest.version), null, 2)
  writeFileSync(path.join(out, 'sbom.cdx.json'), `${bill}\n`)
  writeFileSync(path.join(out, 'licences.md'), licenceTable(components))
  writeFileSync(path.join(out, 'notes.md'), notesOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')))
  writeFileSync(path.join(out, 'SHA256SUMS'), checksumsOf(out))
  return path.join(out, `carrel-${manifest.version}.tgz`)
}

/** Removes files of the web app that the server can make from the one with Brotli (src/pages/web-app.ts). */
function removeConvertible(folder: string): void {
  for (const file of globSync('**/*.br', { cwd: folder })) {
    const name = path.join(folder, file.slice(0, -'.br'.length))
    for (const convertible of [name, `${name}.gz`]) rmSync(convertible)
  }
}

/** The manifest of the package. Omits development fields, and dependencies that are bundled: npm would install them unused. */
function publishedManifest(manifest: Manifest, imported: ReadonlySet<string>): object {
  const {
    private: _private,
    workspaces: _workspaces,
    scripts: _scripts,
    allowScripts: _allow,
    ...rest
  } = manifest
  const { devDependencies: _dev, overrides: _overrides, files: _files, ...published } = rest
  const dependencies = Object.entries(manifest.dependencies).filter(([name]) => imported.has(name))
  return { ...published, dependencies: Object.fromEntries(dependencies) }
}

/** The licence texts of packages whose code is part of ours, each text once. Their licences require it. */
export function noticesOf(folders: readonly string[]): string {
  const packages = new Map<string, string[]>()
  for (const folder of folders) {
    const { name, version, license } = readJson(path.join(folder, 'package.json')) as Record<string, string>
    const files = readdirSync(path.join(root, folder)).filter((file) => LEGAL_FILE.test(file))
    const texts = files.sort().map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim())
    const text = texts.length > 0 ? texts.join('\n\n') : `Licence: ${license}`
    packages.set(text, [...(packages.get(text) ?? []), `${name} ${version}`])
  }
  return [...packages]
    .map(([text, names]) => `${names.join(', ')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(root, file), 'utf8'))
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
  console.log(`Written: ${await buildRelease(path.resolve(values.out))}`)
}
