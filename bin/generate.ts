import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { published } from '../bench/published.ts'
import { readResults, resultFiles } from '../bench/results.ts'
import { statements } from '../packages/conformance/statements.ts'
import { table } from '../test/api/matrix/table.ts'
import { startServer } from '../test/support/server.ts'
import { callsTable, permissionsPage } from './api-tables.ts'
import { statementsPage } from './compatibility.ts'
import { describedCalls } from './described-calls.ts'
import { readDescription } from './description.ts'
import { endpointsPage } from './endpoints.ts'
import { pythonFiles } from './python-client.ts'
import { typesText } from './sdk-types.ts'

// `npm run generate` writes all that is made of the routes, and of the published measurements. With --check it only says which of the files in
// git are not what it would write, with --built it writes only those that are not in git.

const root = path.join(import.meta.dirname, '..')

const PYTHON_FOLDER = 'sdk/python/carrel_client'
const COMPATIBILITY_PAGE = 'docs/compatibility.md'
const OMITTED_CALLS = 'src/platform/openapi/omitted-calls.json'

/** The files in git, by path: those that people read without building anything. */
export async function storedFiles(): Promise<Map<string, string>> {
  const description = readDescription()
  const calls = describedCalls(description)
  const omitted = JSON.parse(await read(OMITTED_CALLS)) as Record<string, string>
  const compatibility = await read(COMPATIBILITY_PAGE)
  await using server = await startServer()
  return new Map([
    ['docs/endpoints.md', endpointsPage(server.running.endpoints, calls)],
    [COMPATIBILITY_PAGE, withPart(compatibility, 'calls', callsTable(calls, omitted))],
  ])
}

/** The files that are built where they are needed, by path: for the type check, the tests, packages and the site. */
export async function builtFiles(): Promise<Map<string, string>> {
  const description = readDescription()
  const results = await readResults(path.join(root, published.folder))
  return new Map([
    ['sdk/src/responses.ts', typesText(description)],
    ['docs/statements.md', statementsPage(statements)],
    ['docs/permissions.md', permissionsPage(describedCalls(description), table)],
    ...within(PYTHON_FOLDER, pythonFiles(description)),
    ...within(published.folder, results === undefined ? new Map() : resultFiles(results)),
  ])
}

function within(folder: string, files: ReadonlyMap<string, string>): [file: string, text: string][] {
  return Array.from(files, ([name, text]) => [`${folder}/${name}`, text])
}

/** Writes those of some files that differ. Returns their paths. */
export async function writeFiles(files: ReadonlyMap<string, string>): Promise<string[]> {
  const outdated = await outdatedOf(files)
  for (const file of outdated) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), files.get(file) ?? '')
  }
  return outdated
}

/** The paths of the files that are not as they should be. */
export async function outdatedOf(files: ReadonlyMap<string, string>): Promise<string[]> {
  const outdated: string[] = []
  for (const [file, text] of files) {
    if ((await read(file).catch(() => undefined)) !== text) outdated.push(file)
  }
  return outdated
}

const read = (file: string) => readFile(path.join(root, file), 'utf8')

/** A page with another part between two comments of a name. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`The page has no ${begin} with ${end} after it.`)
  return `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const outdated = await outdatedOf(await storedFiles())
    if (outdated.length > 0) {
      console.error(`Not what the routes say: ${outdated.join(', ')}. Run npm run generate.`)
      process.exitCode = 1
    }
  } else if (process.argv.includes('--built')) {
    await writeFiles(await builtFiles())
  } else {
    const written = await writeFiles(new Map([...(await storedFiles()), ...(await builtFiles())]))
    console.log(written.length === 0 ? 'Nothing changed.' : written.join('\n'))
  }
}
