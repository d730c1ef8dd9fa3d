import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { isMissing, type Statement, sectionOf } from '../src/conformance/statement.ts'
import { statements } from '../src/conformance/statements.ts'
import { openStage } from '../test/seed/stage.ts'

// `node bin/compatibility.ts --write` verifies every statement of the documented API on a server and updates the table in the docs.
// Without the flag it only checks the statements and the table.

export const COMPATIBILITY_FILE = path.join(import.meta.dirname, '../docs/compatibility.md')

const BEGIN = '<!-- seed:begin -->'
const END = '<!-- seed:end -->'

/** The table of the statements. Those in `failed` are marked as not holding. */
export function tableOf(statements: readonly Statement[], failed: ReadonlySet<string> = new Set()): string {
  const rows = statements.map((statement) => {
    const [result, note] = isMissing(statement)
      ? ['not there yet', `Comes with ${statement.needs}.`]
      : [failed.has(statement.id) ? 'no' : 'yes', statement.note ?? '']
    const cells = [sectionOf(statement), statement.statement, result, note]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2}\|$/, ' |')
  })
  return ['| Section | Statement | Result | Note |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** Extracts the table from a page. Throws if the page has none. */
export function tableIn(page: string): string {
  return split(page).table
}

function split(page: string): { before: string; table: string; after: string } {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`The page has no ${BEGIN} with ${END} after it.`)
  const start = begin + BEGIN.length
  return { before: page.slice(0, start), table: page.slice(start, end).trim(), after: page.slice(end) }
}

/** Verifies the statements one by one. Prints why one does not hold, and returns the ids of those. */
async function tryAll(): Promise<Set<string>> {
  const failed = new Set<string>()
  await using stage = await openStage()
  for (const statement of statements) {
    if (isMissing(statement)) continue
    try {
      await statement.run(stage)
    } catch (error) {
      failed.add(statement.id)
      console.error(`${statement.id}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return failed
}

if (import.meta.main) {
  const failed = await tryAll()
  const table = tableOf(statements, failed)
  const { before, table: old, after } = split(await readFile(COMPATIBILITY_FILE, 'utf8'))
  if (process.argv.includes('--write')) {
    await writeFile(COMPATIBILITY_FILE, `${before}\n\n${table}\n\n${after}`)
  } else if (table !== old) {
    console.error('docs/compatibility.md is not what holds: run node bin/compatibility.ts --write.')
    process.exitCode = 1
  }
  if (failed.size > 0) process.exitCode = 1
  const waiting = statements.filter(isMissing).length
  const held = statements.length - waiting - failed.size
  console.log(`${held} statements hold, ${failed.size} do not, ${waiting} are not there yet.`)
}
