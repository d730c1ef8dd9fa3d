import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { SourceMapPayload } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import {
  billOfMaterials,
  type Component,
  componentsOf,
  dependenciesOf,
  type Lock,
  licenceTable,
  nameOf,
} from './bill-of-materials.ts'
import { builtFiles, writeFiles } from './generate.ts'
import { bundleRelease } from './release-bundle.ts'
import { packPython, packSdk } from './release-clients.ts'
import type { ReleaseMaps } from './trace.ts'

// `npm run release`: writes what a release publishes to a folder. --out names the folder, --key a secret key of minisign to sign the checksums with.

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

/** Includes names such as `LICENSE_OPENJPEG`, of third-party code in a folder of a package. */
const LEGAL_FILE = /^(?:licen[cs]e|copying|notice)(?:_[a-z\d_]+)?(?:[-.](?:md|markdown|txt|mit|apache\S*))*$/i
const FONTS = 'web/src/ui/fonts'

interface Manifest {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

/** Writes the package, with its checksums, bill of materials, licences and notes. Returns the file of the package. */
export async function buildRelease(out: string): Promise<string> {
  const manifest = readJson('package.json') as Manifest
  const lock = readJson('package-lock.json') as Lock
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-release-'))
  let components: Component[]
  try {
    for (const file of OTHER_FILES)
      cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
    const webApp = new Set(readFileSync(path.join(folder, 'web/dist/.packages'), 'utf8').split('\n'))
    for (const file of ['.packages', '.built-from']) rmSync(path.join(folder, 'web/dist', file))
    removeConvertible(path.join(folder, 'web/dist'))
    const { imported, contained } = await bundleRelease(root, folder)
    const maps: ReleaseMaps = { version: manifest.version, maps: takeMaps(folder) }
    writeFileSync(path.join(out, 'source-maps.json.gz'), gzipSync(JSON.stringify(maps), { level: 9 }))
    const published = publishedManifest(manifest, exactDependencies(lock, [...imported]))
    writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
    const bundled = [...new Set([...contained, ...webApp])].sort()
    writeFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(bundled, [FONTS]))
    npm(['pack', '--silent', '--pack-destination', out], folder)
    const required = [...imported, ...Object.keys(manifest.optionalDependencies)]
    const installed = dependenciesOf(lock, required)
    components = componentsOf(lock, { server: contained, 'web app': webApp, installed })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  await writeFiles(await builtFiles())
  packSdk(root, out)
  packPython(root, out)
  const bill = JSON.stringify(billOfMaterials(components, manifest.version), null, 2)
  writeFileSync(path.join(out, 'sbom.cdx.json'), `${bill}\n`)
  writeFileSync(path.join(out, 'licences.md'), licenceTable(components))
  writeFileSync(path.join(out, 'notes.md'), notesOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')))
  const provenance = JSON.stringify(provenanceOf(out, manifest.version), null, 2)
  writeFileSync(path.join(out, 'provenance.intoto.json'), `${provenance}\n`)
  writeFileSync(path.join(out, 'SHA256SUMS'), checksumsOf(out))
  return path.join(out, `carrel-${manifest.version}.tgz`)
}

/** Removes files of the web app that the server can make from the one with Brotli (src/surfaces/pages/web-app.ts). */
function removeConvertible(folder: string): void {
  for (const file of globSync('**/*.br', { cwd: folder })) {
    const name = path.join(folder, file.slice(0, -'.br'.length))
    for (const convertible of [name, `${name}.gz`]) rmSync(convertible)
  }
}

/** Removes the source maps of a bundle, and returns them by the path of their file. Their sources are relative to the checkout. */
function takeMaps(folder: string): ReleaseMaps['maps'] {
  const files = globSync('src/**/*.map', { cwd: folder }).sort()
  const maps = files.map((name) => {
    const file = path.join(folder, name)
    // Without the content of the sources, which a checkout of the version has.
    const { sourcesContent: _, ...map } = JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload
    rmSync(file)
    const sources = map.sources.map((source) =>
      path
        .relative(root, path.resolve(path.dirname(file), source))
        .split(path.sep)
        .join('/'),
    )
    return [name.slice(0, -'.map'.length).split(path.sep).join('/'), { ...map, sources }]
  })
  return Object.fromEntries(maps) as ReleaseMaps['maps']
}

/**
 * Packages and what they depend on, with the versions of the lockfile. npm does not read the lockfile of a dependency, so it would
 * otherwise install versions that no test has seen and the bill of materials does not list.
 */
function exactDependencies(lock: Lock, names: readonly string[]): Record<string, string> {
  // Packages for certain machines have exact versions in the manifests that name them.
  const folders = [
    ...dependenciesOf(lock, names, ({ os, cpu }) => os === undefined && cpu === undefined),
  ].sort()
  return Object.fromEntries(folders.map((folder) => [nameOf(folder), lock.packages[folder]?.version ?? '']))
}

/** The manifest of the package. Omits development fields. */
function publishedManifest(manifest: Manifest, dependencies: Record<string, string>): object {
  const {
    private: _private,
    workspaces: _workspaces,
    scripts: _scripts,
    allowScripts: _allow,
    ...rest
  } = manifest
  const { devDependencies: _dev, overrides: _overrides, files: _files, ...published } = rest
  return { ...published, dependencies }
}

/**
 * The licence texts of the bundled packages, and of folders such as those of fonts. A text that several share is there once. The licences require that
 * their texts are distributed with the code.
 */
export function noticesOf(packages: readonly string[], others: readonly string[] = []): string {
  const titles = new Map<string, string[]>()
  const add = (title: string, text: string) => titles.set(text, [...(titles.get(text) ?? []), title])
  for (const folder of packages) {
    const { name, version, license } = readJson(path.join(folder, 'package.json')) as Record<string, string>
    const files = legalFiles(folder)
    const texts = files.map((file) => readFileSync(path.join(root, folder, file), 'utf8').trim())
    add(`${name} ${version}`, texts.length > 0 ? texts.join('\n\n') : `Licence: ${license}`)
  }
  for (const folder of others) {
    for (const file of globSync('*.txt', { cwd: path.join(root, folder) }).sort())
      add(folder, readFileSync(path.join(root, folder, file), 'utf8').trim())
  }
  return [...titles]
    .map(([text, names]) => `${names.join(', ')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** Files with licences in a package, without those of packages in it. */
function legalFiles(folder: string): string[] {
  const files = globSync('**/*', { cwd: path.join(root, folder), exclude: ['**/node_modules/**'] })
  return files.filter((file) => LEGAL_FILE.test(path.basename(file))).sort()
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(root, file), 'utf8'))
}

/** The newest section of the changelog. */
export function notesOf(changelog: string): string {
  const [, newest = ''] = changelog.split(/^## /m)
  return `# Carrel ${newest.trim()}\n`
}

/** How the files were made, in the format SLSA provenance 1.0 of in-toto statements. The signature of the checksums covers it. */
function provenanceOf(folder: string, version: string): object {
  const subject = hashesOf(folder).map(([name, sha256]) => ({ name, digest: { sha256 } }))
  const lock = createHash('sha256').update(readFileSync(path.join(root, 'package-lock.json')))
  const commit = git('rev-parse', 'HEAD')
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { version, changed: git('status', '--porcelain') !== '' },
        resolvedDependencies: [
          ...(commit === '' ? [] : [{ name: 'sources', digest: { gitCommit: commit } }]),
          { name: 'package-lock.json', digest: { sha256: lock.digest('hex') } },
        ],
      },
      runDetails: { builder: { id: `node ${process.versions.node} on ${process.platform} ${process.arch}` } },
    },
  }
}

/** The output of git; empty outside of a repository. */
function git(...args: string[]): string {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : ''
}

/** Signs the checksums, and with them all files. minisign asks for the password of the key. */
export function sign(folder: string, key: string): void {
  const file = path.join(folder, 'SHA256SUMS')
  const { version } = readJson('package.json') as Manifest
  const { status, error } = spawnSync('minisign', ['-S', '-s', key, '-m', file, '-t', `carrel ${version}`], {
    stdio: 'inherit',
  })
  if (status !== 0)
    throw new Error(`minisign failed (${error?.message ?? status}): install it from your distribution.`)
}

/** In the format of `sha256sum --check`. */
function checksumsOf(folder: string): string {
  return hashesOf(folder)
    .map(([name, hash]) => `${hash}  ${name}\n`)
    .join('')
}

/** The files of a release, without their checksums. */
function hashesOf(folder: string): [name: string, sha256: string][] {
  const names = globSync('*', { cwd: folder, exclude: ['SHA256SUMS'] }).sort()
  return names.map((name) => [
    name,
    createHash('sha256')
      .update(readFileSync(path.join(folder, name)))
      .digest('hex'),
  ])
}

function npm(args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args[0]} failed: ${stderr}`)
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: path.join(root, 'release') }, key: { type: 'string' } },
  })
  const out = path.resolve(values.out)
  console.log(`Written: ${await buildRelease(out)}`)
  if (values.key !== undefined) sign(out, values.key)
}
