import { cpSync } from 'node:fs'
import path from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import { entryName, namedFiles, STARTED_FILE, sourcesOf } from './bundle-entries.ts'

/** Worker processes in a sandbox, which may read the folder of their program. */
const SANDBOXED_FILE = /path\.join\(import\.meta\.dirname, '([\w-]+)\.ts'\)/g
/** Imported by every program in a sandbox. */
const SANDBOX_RUNTIME = 'src/platform/workers/runtime'
/** Files that the server reads while it runs. Other files are part of the code. */
const READ_FILES = ['src/base/objects/stop-search.wasm', 'src/surfaces/pages/assets']

/** The packages of a bundle. */
export interface BundledPackages {
  /** Names of those that it imports when it runs. */
  readonly imported: ReadonlySet<string>
  /** Folders of those whose code it contains, relative to the root. */
  readonly contained: ReadonlySet<string>
}

/**
 * Writes the server as a bundle to `folder`, in which `src/main.mjs` is the program as in a checkout (record 0099). A start loads
 * some dozen files instead of a thousand, and npm unpacks as few.
 *
 * The code is not minified, and a comment before each part names its source, so that a stack trace leads there.
 * Each program of a sandbox is bundled by itself into its folder, so that it needs no other. Packages that such a program imports stay
 * packages, because some of them have native code or WebAssembly in files. All others become part of the bundle.
 */
export async function bundleRelease(root: string, folder: string): Promise<BundledPackages> {
  const sources = sourcesOf(root)
  const sandboxed = namedFiles(root, sources, SANDBOXED_FILE)
  const started = namedFiles(root, sources, STARTED_FILE)
  const ofSandbox = (file: string) =>
    path.relative(root, file).startsWith(path.join(SANDBOX_RUNTIME, path.sep))
  const imported = new Set<string>()
  for (const file of sandboxed) {
    await write({
      root,
      folder: path.join(folder, path.relative(root, path.dirname(file))),
      entries: [file, ...started.filter(ofSandbox)],
      place: path.dirname(file),
      stays: (name) => imported.add(name) !== undefined,
    })
  }
  const main = path.join(root, 'src/main.mjs')
  const contained = await write({
    root,
    folder: path.join(folder, 'src'),
    entries: [main, ...started.filter((file) => !ofSandbox(file))],
    place: path.join(root, 'src'),
    stays: (name) => imported.has(name),
  })
  for (const file of READ_FILES) cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
  return { imported, contained }
}

interface Part {
  readonly root: string
  readonly folder: string
  /** Files that a process or a thread starts with. */
  readonly entries: readonly string[]
  /** The folder of the sources that the bundle takes the place of. */
  readonly place: string
  /** Whether a package stays one. */
  readonly stays: (name: string) => boolean
}

/** Returns the folders of the packages in the bundle. */
async function write({ root, folder, entries, place, stays }: Part): Promise<Set<string>> {
  await using bundle = await rolldown({
    input: Object.fromEntries(entries.map((file) => [nameIn(root, place, file), file])),
    cwd: root,
    platform: 'node',
    tsconfig: false,
    transform: { target: 'esnext' },
    plugins: [
      {
        name: 'packages and places',
        resolveId(id, importer) {
          const isOurs = importer === undefined || !importer.includes('node_modules')
          // The launcher is beside the bundle as it is beside the sources.
          if (isOurs && id.endsWith('.cjs')) return { id, external: true }
          if (!isOurs || id.startsWith('.') || id.startsWith('node:') || path.isAbsolute(id)) return undefined
          return stays(packageOf(id)) ? { id, external: true } : undefined
        },
        transform(code, id) {
          const isOurs = path.isAbsolute(id) && !id.includes('node_modules')
          return isOurs && code.includes('import.meta.')
            ? // Replaces parts of lines, so the lines of the source map stay right.
              { code: withPlaces(code, id, root, place), map: null }
            : undefined
        },
      },
    ],
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    keepNames: true,
    // Without a comment that names them: a release has them in a file of its own.
    sourcemap: 'hidden',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
  })
  const modules = output
    .filter((part): part is OutputChunk => part.type === 'chunk')
    .flatMap(({ moduleIds }) => moduleIds)
  const inPackages = modules.filter((id) => id.includes('node_modules'))
  return new Set(inPackages.map((id) => packageFolder(path.relative(root, id))))
}

/** The code of a file with its places relative to the bundle. Threads and child processes start from the bundle. */
function withPlaces(code: string, file: string, root: string, place: string): string {
  const from = ['.', ...path.relative(place, path.dirname(file)).split(path.sep)].filter(Boolean).join('/')
  return code
    .replaceAll(STARTED_FILE, (_, name: string) => {
      const started = path.resolve(path.dirname(file), `${name}.ts`)
      return `new URL('./${nameIn(root, place, started)}.mjs', import.meta.url)`
    })
    .replaceAll(SANDBOXED_FILE, "path.join(import.meta.dirname, '$1.mjs')")
    .replaceAll('import.meta.dirname', from === '.' ? '$&' : `\`\${import.meta.dirname}${from.slice(1)}\``)
    .replaceAll(/(?<!\.mjs', )import\.meta\.url/g, `new URL('${from}/_', import.meta.url)`)
}

/** The name of an entry: that of its file if the bundle takes the place of its folder. */
function nameIn(root: string, place: string, file: string): string {
  return path.dirname(file) === place ? path.parse(file).name : entryName(root, file)
}

/** For example `@scope/name` for `@scope/name/file.js`. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** For example `node_modules/a/node_modules/b` for a file in it. */
function packageFolder(file: string): string {
  const at = file.lastIndexOf('node_modules/') + 'node_modules/'.length
  return file.slice(0, at) + packageOf(file.slice(at))
}
