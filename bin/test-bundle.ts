import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, VERSION } from 'rolldown'
import { entryName, namedFiles, STARTED_FILE, sourcesOf } from './bundle-entries.ts'

const DAY_MS = 24 * 3_600_000

/** The program and the function of its commands, as one file each with what they import. */
const MAIN = 'src/main.mjs'
const RUN = 'src/programs/cli/run.ts'

export interface ServerBundle {
  readonly main: string
  readonly run: string
}

/**
 * Bundles the sources of the server for the processes that tests start and kill: loading a thousand files takes most of the time of
 * a start (record 0094). Packages stay where they are, and so do files that the sources find by their own place.
 *
 * The name of the folder is the hash of everything the bundle is made from, so that no bundle of other sources can be used. The folder
 * appears complete or not at all, because other runs may use it at the same time.
 */
export async function bundleServer(root: string): Promise<ServerBundle> {
  const folder = await cachedBundle(root, {
    sources: sourcesOf(root),
    starts: [MAIN, RUN],
  })
  const bundled = (source: string) => path.join(folder, `${entryName(root, path.join(root, source))}.mjs`)
  return { main: bundled(MAIN), run: bundled(RUN) }
}

/**
 * Bundles a program of a test, which starts it some dozen times, in the same way. `imported` are the files outside of `src/` that it
 * imports. Returns the file to start.
 */
export async function bundleTestProgram(
  root: string,
  program: string,
  imported: readonly string[] = [],
): Promise<string> {
  const sources = [...sourcesOf(root), program, ...imported]
  const folder = await cachedBundle(root, { sources, starts: [program] })
  return path.join(folder, `${entryName(root, path.join(root, program))}.mjs`)
}

interface BundleInput {
  /** Paths of all files that the bundle may contain. */
  readonly sources: readonly string[]
  /** Those of them that processes start with. */
  readonly starts: readonly string[]
}

/** Returns the folder of the bundle. */
async function cachedBundle(root: string, input: BundleInput): Promise<string> {
  const cache = path.join(root, 'node_modules/.cache/carrel-bundle')
  const folder = path.join(cache, hashOf(root, input.sources))
  mkdirSync(cache, { recursive: true })
  if (!existsSync(folder)) {
    const unfinished = path.join(cache, `unfinished-${randomUUID()}`)
    await writeBundle(root, input, unfinished)
    moveInto(folder, unfinished)
  }
  const now = new Date()
  utimesSync(folder, now, now)
  removeOld(cache)
  return folder
}

/** The files of the launcher and of the bundle itself. */
const TOOLS = ['bin/hand-over.cjs', 'bin/node-flags.cjs', 'bin/bundle-entries.ts', 'bin/test-bundle.ts']

/** The hash of the names and contents of all inputs: the sources, the tools and the version of the bundler. */
function hashOf(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256').update(VERSION).update(root)
  for (const file of [...sources, ...TOOLS]) {
    const content = readFileSync(path.join(root, file))
    hash.update(`\0${file}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 32)
}

async function writeBundle(root: string, input: BundleInput, folder: string): Promise<void> {
  const known = new Set(input.sources.map((file) => path.join(root, file)))
  await using bundle = await rolldown({
    input: entriesOf(root, input),
    platform: 'node',
    tsconfig: false,
    transform: { target: 'esnext' },
    plugins: [
      {
        name: 'places',
        // Relative, or a helper of the bundler: part of the bundle. CommonJS is for the launcher, which finds things by its own place.
        resolveId(id, importer) {
          if (id.endsWith('.cjs') && importer !== undefined) {
            return { id: pathToFileURL(path.resolve(path.dirname(importer), id)).href, external: true }
          }
          const isOwn = id.startsWith('.') || path.isAbsolute(id) || id.startsWith('@oxc-project/')
          return isOwn ? undefined : { id, external: true }
        },
        transform(code, id) {
          if (path.isAbsolute(id) && !id.includes('node_modules') && !known.has(id)) {
            throw new Error(`The bundle contains ${id}, which is not part of its hash.`)
          }
          return code.includes('import.meta.') ? { code: withPlaces(code, id, root) } : undefined
        },
      },
    ],
  })
  await bundle.write({
    dir: folder,
    format: 'esm',
    keepNames: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunk-[hash].mjs',
  })
}

/** Each file that a process or a thread starts with, by its name in the bundle. */
function entriesOf(root: string, { sources, starts }: BundleInput): Record<string, string> {
  const started = namedFiles(root, sources, STARTED_FILE)
  const files = [...starts.map((file) => path.join(root, file)), ...started]
  return Object.fromEntries(files.map((file) => [entryName(root, file), file]))
}

/** The code of a file with its place as constants, because the bundle has another. Threads and child processes start from the bundle. */
function withPlaces(code: string, file: string, root: string): string {
  return code
    .replaceAll(STARTED_FILE, (_, place: string) => {
      const name = entryName(root, path.resolve(path.dirname(file), `${place}.ts`))
      return `new URL('./${name}.mjs', import.meta.url)`
    })
    .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
    .replaceAll(/(?<!\.mjs', )import\.meta\.url/g, JSON.stringify(pathToFileURL(file).href))
}

/** Renames a finished folder. If another run was faster, its folder has the same content. */
function moveInto(folder: string, unfinished: string): void {
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    rmSync(unfinished, { recursive: true })
  }
}

/** Deletes bundles that no run has used for a day. */
function removeOld(cache: string): void {
  for (const name of readdirSync(cache)) {
    const folder = path.join(cache, name)
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > DAY_MS) rmSync(folder, { recursive: true, force: true })
  }
}
