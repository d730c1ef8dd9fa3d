import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { apiRoutes } from '../src/api/index.ts'
import { apiSchemas } from '../src/api/schemas.ts'
import {
  type Compatibility,
  type DescribedSurface,
  describeApi,
  type Examples,
} from '../src/openapi/index.ts'
import { downloadRoutes, uploadRoutes } from '../src/transfer/index.ts'
import { downloadSchemas, uploadSchemas } from '../src/transfer/transfer.schema.ts'
import { outdatedFiles } from './python-client.ts'

// `node bin/openapi.ts --write` generates the API description that the server sends at /api/openapi.json, and the Python client from it. Without the flag it only checks the file.
// `--examples FILE` first takes the examples from responses that tests recorded with CARREL_TEST_EXAMPLES=FILE.

export const DESCRIPTION_FILE = path.join(import.meta.dirname, '../src/pages/assets/openapi.json')

/** Responses of the test servers, as `CARREL_TEST_EXAMPLES` records them. */
export const EXAMPLES_FILE = path.join(import.meta.dirname, '../src/openapi/examples.json')

/** How each call of the web API compares with the original server, and its calls that are not served. */
const COMPATIBLE_CALLS_FILE = path.join(import.meta.dirname, '../src/openapi/compatibility.json')

/** The version of the API, not of the program. */
const VERSION = '2.1'

export const surfaces: readonly DescribedSurface[] = [
  { routes: apiRoutes, operations: apiSchemas, errorForm: 'api' },
  { routes: uploadRoutes, operations: uploadSchemas, errorForm: 'upload' },
  { routes: downloadRoutes, operations: downloadSchemas, errorForm: 'text' },
]

/** The description as the file has it. */
export async function descriptionText(): Promise<string> {
  const examples = JSON.parse(await readFile(EXAMPLES_FILE, 'utf8')) as Examples
  const compatibility = await compatibleCalls()
  const document = describeApi(surfaces, { version: VERSION, examples, compatibility })
  return `${JSON.stringify(document, undefined, 1)}\n`
}

export async function compatibleCalls(): Promise<Compatibility> {
  return JSON.parse(await readFile(COMPATIBLE_CALLS_FILE, 'utf8')) as Compatibility
}

/** Longer responses make no good example. */
const LARGEST_EXAMPLE = 2000

/** For each operation the longest response that is short enough, with ids, times, addresses and secrets replaced. */
function examplesFrom(recorded: string): Examples {
  const chosen = new Map<string, { status: number; body: unknown; length: number }>()
  for (const line of recorded.split('\n').filter(Boolean)) {
    const { operationId, status, body } = JSON.parse(line) as {
      operationId: string
      status: number
      body: unknown
    }
    const { length } = JSON.stringify(body)
    const known = chosen.get(operationId)
    if (length <= LARGEST_EXAMPLE && length > (known?.length ?? -1))
      chosen.set(operationId, { status, body, length })
  }
  const sorted = [...chosen].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([id, { status, body }]) => [id, { status, body: replaced(body) }]))
}

/** Values of tests by pattern, and what stands for them in examples. The more specific ones are first. */
const REPLACEMENTS: readonly [pattern: RegExp, replacement: (n: number) => string][] = [
  [/https?:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?/g, () => 'https://files.example.org'],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (n) => `00000000-0000-4000-8000-${hex(n, 12)}`],
  [/(?<![0-9a-f])[0-9a-f]{64,}(?![0-9a-f])/g, (n) => hex(n, 64)],
  [/(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g, (n) => hex(n, 40)],
  [/(?<![0-9a-f])[0-9a-f]{20,39}(?![0-9a-f])/g, (n) => hex(n, 20)],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, () => '2026-11-17T12:00:00'],
  [/title="[^"]*"/g, () => 'title="Tue, 17 Nov 2026 12:00:00 +0000"'],
  // The role matrix looks for these words in responses to strangers.
  [/\bkolibri\b/gi, () => 'Reports'],
  [/\bkingfisher\b/gi, () => 'minutes'],
  [/user\d+(?=@example\.org|\b)/g, (n) => ['ann', 'bob', 'cid', 'dora'][(n - 1) % 4] ?? 'ann'],
]

const hex = (n: number, length: number) => n.toString(16).padStart(length, '0')

/** A copy with every text replaced. Equal values get equal replacements. Times in Unix seconds are replaced as well. */
function replaced(body: unknown): unknown {
  const seen = new Map<string, string>()
  const counts = REPLACEMENTS.map(() => 0)
  const inText = (text: string) =>
    REPLACEMENTS.reduce(
      (changed, [pattern, replacement], index) =>
        changed.replace(pattern, (found) => {
          const key = `${index} ${found}`
          const known = seen.get(key) ?? replacement((counts[index] = (counts[index] ?? 0) + 1))
          seen.set(key, known)
          return known
        }),
      text,
    )
  const walk = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return isSecret(name) && value !== '' ? hex(1, 40) : inText(value)
    if (typeof value === 'number') return /time|modified/.test(name) ? timeInPlaceOf(value) : value
    if (Array.isArray(value)) return value.map((item) => walk(item, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [inText(key), walk(item, key)]))
  }
  return walk(body, '')
}

/** Some times are in microseconds. Small numbers are no times. */
function timeInPlaceOf(value: number): number {
  if (value <= 1e9) return value
  return value > 1e14 ? 1_794_916_800_000_000 : 1_794_916_800
}

const isSecret = (name: string) => /token|random_key|magic|^salt$|password|^reset_tip$/.test(name)

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: 'boolean' }, examples: { type: 'string' } } })
  if (values.examples !== undefined) {
    const examples = examplesFrom(await readFile(values.examples, 'utf8'))
    await writeFile(EXAMPLES_FILE, `${JSON.stringify(examples, undefined, 2)}\n`)
  }
  const text = await descriptionText()
  if (values.write) {
    await writeFile(DESCRIPTION_FILE, text)
    await outdatedFiles({ write: true })
  } else if ((await readFile(DESCRIPTION_FILE, 'utf8')) !== text) {
    console.error('src/pages/assets/openapi.json differs from the routes: run node bin/openapi.ts --write.')
    process.exitCode = 1
  }
}
