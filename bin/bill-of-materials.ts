/** An entry of package-lock.json. */
interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** A package whose code a release contains or installs. */
export interface Component {
  /** Where it is installed, such as `node_modules/pg`. */
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string
}

/** Packages of the web app that build it and leave no code in it. */
const BUILD_TOOLS = /^(?:@types\/|@vitejs\/|vite$|rolldown$)/

/**
 * What the server and the web app consist of, with everything they depend on. Read from the lockfile, because
 * `npm sbom` leaves out packages that a tool for development needs too.
 */
export function componentsOf(lock: Lock): Component[] {
  const found = new Map(
    [...componentsOfWebApp(lock), ...dependenciesOf(lock, '')].map((one) => [one.folder, one]),
  )
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What the web app is bundled from. */
export function componentsOfWebApp(lock: Lock): Component[] {
  return dependenciesOf(lock, 'web', (name) => !BUILD_TOOLS.test(name))
}

function dependenciesOf(lock: Lock, of: string, isWanted = (_name: string) => true): Component[] {
  const found = new Map<string, Component>()
  const visit = (from: string, isWanted: (name: string) => boolean) => {
    const { dependencies, optionalDependencies } = lock.packages[from] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const folder = resolved(lock, from, name)
      if (folder === undefined || found.has(folder) || !isWanted(name)) continue
      const { version = '', license = '', integrity = '' } = lock.packages[folder] ?? {}
      found.set(folder, { folder, name, version, license, integrity })
      visit(folder, () => true)
    }
  }
  visit(of, isWanted)
  return [...found.values()]
}

/** Where Node finds a package: beside the one that imports it, or in a folder above. */
function resolved(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (candidate in lock.packages) return candidate
    if (folder === '') return undefined
    if (!folder.includes('node_modules/')) folder = ''
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
    })),
  }
}

/** A table of the packages and their licences. */
export function licenceTable(components: readonly Component[]): string {
  const rows = components.map(
    ({ name, version, license }) => `| ${name} | ${version} | ${license || 'see the package'} |`,
  )
  return `# Licences of packages\n\n| Package | Version | Licence |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}
