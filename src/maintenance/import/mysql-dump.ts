import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ImportError } from './problems.ts'
import { SOURCE_TABLES, type SourceRow, type SourceRows, type SourceValue } from './source-rows.ts'

/**
 * Reads the rows of a dump of `mysqldump` or `mariadb-dump`, plain or compressed with gzip. Tables that are not imported are skipped line by line,
 * so that a dump may be larger than memory. Throws ImportError.
 */
export async function readMysqlDump(file: string, rows: SourceRows): Promise<void> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  bytes.once('error', (error) => input.destroy(error))
  await readDump(input, `The dump ${file}`, rows)
}

/** As readMysqlDump, from a stream. `name` begins the sentences of errors. */
export async function readDump(input: Readable, name: string, rows: SourceRows): Promise<void> {
  const columns = new Map<string, string[]>()
  let created: { table: string; names: string[] } | undefined
  let statement = ''
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => {})
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (statement !== '') {
        statement += `\n${line}`
      } else if (created !== undefined) {
        const column = /^\s*[`"]([^`"]+)[`"]/.exec(line)?.[1]
        if (column !== undefined) created.names.push(column.toLowerCase())
        else if (/^\s*\)/.test(line)) {
          columns.set(created.table, created.names)
          created = undefined
        }
        continue
      } else {
        const table = tableOf(line, 'create table')
        if (table !== undefined) {
          created = { table, names: [] }
          continue
        }
        const into = tableOf(line, 'insert into')
        if (into === undefined || !SOURCE_TABLES.has(into)) continue
        statement = line
      }
      if (!/;\s*$/.test(line)) continue
      if (readInsert(statement, columns, rows)) statement = ''
    }
    await Promise.race([failed, Promise.resolve()])
  } catch (cause) {
    if (cause instanceof ImportError) throw cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ImportError(`${name} cannot be read (${reason}): check that it is complete.`, { cause })
  }
  if (statement !== '' || created !== undefined) {
    throw new ImportError(`${name} ends within a statement: make it again.`)
  }
}

function tableOf(line: string, verb: 'create table' | 'insert into'): string | undefined {
  if (line.slice(0, verb.length).toLowerCase() !== verb) return undefined
  return /^(?: if not exists)?\s+(?:[`"][^`"]+[`"]\.)?[`"]?([^`"\s(]+)[`"]?/i
    .exec(line.slice(verb.length))?.[1]
    ?.toLowerCase()
}

const INSERT = /^insert into\s+(?:[`"][^`"]+[`"]\.)?[`"]?([^`"\s(]+)[`"]?\s*(?:\(([^)]*)\)\s*)?values\s*/i

/** False if the statement is not complete: a line of a text ended with a semicolon. */
function readInsert(statement: string, known: ReadonlyMap<string, string[]>, rows: SourceRows): boolean {
  const head = INSERT.exec(statement)
  const table = head?.[1]?.toLowerCase()
  if (head === null || table === undefined)
    throw new ImportError(`A statement is not understood: ${statement.slice(0, 60)}…`)
  const names =
    head[2] === undefined
      ? known.get(table)
      : head[2].split(',').map((name) => name.trim().replace(/[`"]/g, '').toLowerCase())
  if (names === undefined) {
    throw new ImportError(
      `The dump does not say which columns ${table} has: make it without --no-create-info.`,
    )
  }
  const tuples = parseTuples(statement, head[0].length)
  if (tuples === undefined) return false
  for (const values of tuples) {
    const row: Record<string, SourceValue> = {}
    for (const [index, name] of names.entries()) row[name] = values[index] ?? null
    rows.add(table, row satisfies SourceRow)
  }
  return true
}

/** The rows after VALUES; undefined if the text ends within one. */
function parseTuples(text: string, start: number): SourceValue[][] | undefined {
  const tuples: SourceValue[][] = []
  let at = start
  for (;;) {
    at = skip(text, at, /[\s,]/)
    if (text[at] === ';') return tuples
    if (text[at] !== '(') return undefined
    at += 1
    const values: SourceValue[] = []
    for (;;) {
      at = skip(text, at, /[\s,]/)
      if (text[at] === ')') break
      const value = parseValue(text, at)
      if (value === undefined) return undefined
      values.push(value.value)
      at = value.end
    }
    at += 1
    tuples.push(values)
  }
}

function skip(text: string, from: number, what: RegExp): number {
  let at = from
  while (at < text.length && what.test(text[at] ?? '')) at += 1
  return at
}

function parseValue(text: string, from: number): { value: SourceValue; end: number } | undefined {
  let at = from
  const prefix = /^(?:_binary\s+|_utf8(?:mb[34])?\s*|[bBxX](?='))/.exec(text.slice(at, at + 12))?.[0] ?? ''
  at += prefix.length
  if (text[at] === "'") {
    const quoted = parseQuoted(text, at + 1)
    if (quoted === undefined) return undefined
    if (/^b$/i.test(prefix)) return { value: Number.parseInt(quoted.value, 2), end: quoted.end }
    if (/^x$/i.test(prefix))
      return { value: Buffer.from(quoted.value, 'hex').toString('utf8'), end: quoted.end }
    return quoted
  }
  const bare = /^[^,)]+/.exec(text.slice(at, at + 65_536))?.[0]?.trim()
  if (bare === undefined) return undefined
  const end = at + bare.length
  if (/^null$/i.test(bare)) return { value: null, end }
  if (/^0x[0-9a-f]+$/i.test(bare)) return { value: Buffer.from(bare.slice(2), 'hex').toString('utf8'), end }
  return { value: bare, end }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', 0: '\0', Z: '\u001a' }

function parseQuoted(text: string, from: number): { value: string; end: number } | undefined {
  let value = ''
  let plain = from
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]
    if (character === '\\') {
      const next = text[at + 1] ?? ''
      value += text.slice(plain, at) + (ESCAPES[next] ?? next)
      at += 1
      plain = at + 1
    } else if (character === "'") {
      value += text.slice(plain, at)
      if (text[at + 1] !== "'") return { value, end: at + 1 }
      value += "'"
      at += 1
      plain = at + 1
    }
  }
  return undefined
}
