import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Threads and child processes of the server, which their parent finds beside itself. */
export const STARTED_FILE = /new URL\('(\.\/[^']+)\.ts', import\.meta\.url\)/g

/** Paths of the sources without tests, with those of the packages that commands use. */
export function sourcesOf(root: string): string[] {
  return globSync('{src,packages,sdk/src}/**/*.{ts,mjs,json}', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .sort()
}

/** The files that a pattern finds in sources, by a path relative to the source that names them. */
export function namedFiles(root: string, sources: readonly string[], pattern: RegExp): string[] {
  return sources.flatMap((source) => {
    const file = path.join(root, source)
    return [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, place = '']) =>
      path.resolve(path.dirname(file), `${place}.ts`),
    )
  })
}

/** For example `programs-cli-run` for `src/programs/cli/run.ts`, and `test-gc-killed` for `test/gc/killed.ts`. */
export function entryName(root: string, file: string): string {
  const { dir, name } = path.parse(path.relative(root, file).replace(/^src./, ''))
  return path.join(dir, name).replaceAll(path.sep, '-')
}
