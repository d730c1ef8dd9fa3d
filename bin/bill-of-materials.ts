/** An entry of package-lock.json. */
interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  /** What it is for, if not for all. */
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** Where a release has the code of a package: in one of its two bundles, or in a folder that npm installs with it. */
export type Part = 'server' | 'web app' | 'installed'

/** A package whose code a release contains or installs. */
export interface Component {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string
  readonly parts: readonly Part[]
}

/** The fonts of web/src/ui/fonts, which are files of the checkout. */
const FONTS: readonly Component[] = ['inter', 'newsreader'].map((font) => ({
  name: `@fontsource-variable/${font}`,
  version: '5.3.0',
  license: 'OFL-1.1',
  integrity: '',
  parts: ['web app'],
}))

/** The packages in the given folders, such as `node_modules/pg`, and the fonts. Versions are those of the lockfile. */
export function componentsOf(lock: Lock, folders: Readonly<Record<Part, ReadonlySet<string>>>): Component[] {
  const parts = Object.keys(folders) as Part[]
  const all = new Set(parts.flatMap((part) => [...folders[part]]))
  const found = [...all].map((folder): Component => {
    const { version, license = '', integrity = '' } = lock.packages[folder] ?? {}
    if (version === undefined) throw new Error(`${folder} has no version in the lockfile`)
    const within = parts.filter((part) => folders[part].has(folder))
    return { name: nameOf(folder), version, license, integrity, parts: within }
  })
  return [...found, ...FONTS].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The folders of packages and of everything that they depend on, as far as it is wanted. */
export function dependenciesOf(
  lock: Lock,
  names: readonly string[],
  isWanted: (entry: LockedPackage) => boolean = () => true,
): Set<string> {
  const found = new Set<string>()
  const visit = (from: string, names: readonly string[]) => {
    for (const name of names) {
      const folder = resolved(lock, from, name)
      const entry = folder === undefined ? undefined : lock.packages[folder]
      if (folder === undefined || entry === undefined || found.has(folder) || !isWanted(entry)) continue
      found.add(folder)
      visit(folder, Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
    }
  }
  visit('', names)
  return found
}

/** For example `@scope/name` for `node_modules/@scope/name`. */
export function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** Where Node finds a package: beside the one that imports it, or in a folder above. */
function resolved(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (candidate in lock.packages) return candidate
    if (folder === '') return undefined
  }
}

/** In the format CycloneDX 1.6. */
export function billOfMaterials(components: readonly Component[], version: string): object {
  const purl = (name: string, of: string) => `pkg:npm/${name.replace('@', '%40')}@${of}`
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', name: 'carrel', version, purl: purl('carrel', version) },
    },
    components: components.map((component) => ({
      type: 'library',
      name: component.name,
      version: component.version,
      purl: purl(component.name, component.version),
      ...(component.license !== '' && { licenses: [{ expression: component.license }] }),
      ...(component.integrity.startsWith('sha512-') && {
        hashes: [
          { alg: 'SHA-512', content: Buffer.from(component.integrity.slice(7), 'base64').toString('hex') },
        ],
      }),
      properties: component.parts.map((part) => ({ name: 'carrel:part', value: part })),
    })),
  }
}

/** A table of the packages and their licences. */
export function licenceTable(components: readonly Component[]): string {
  const rows = components.map(
    ({ name, version, license, parts }) =>
      `| ${name} | ${version} | ${license || 'see the package'} | ${parts.join(', ')} |`,
  )
  const head = '| Package | Version | Licence | Part |\n| --- | --- | --- | --- |'
  return `# Licences of packages\n\n${head}\n${rows.join('\n')}\n`
}
