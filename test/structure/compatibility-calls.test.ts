import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { ENDPOINTS_FILE } from '../../bin/endpoints.ts'

const COMPATIBILITY_FILE = path.join(import.meta.dirname, '../../docs/compatibility.md')

/** The results of calls that exist. An omitted call does not. */
const EXISTING = ['supported', 'different', 'addition']

// Another test compares endpoints.md with the router.
it('docs/compatibility.md lists each call of the web API once, as it is', async () => {
  const page = await readFile(COMPATIBILITY_FILE, 'utf8')
  const table = page.slice(page.indexOf('<!-- calls:begin -->'), page.indexOf('<!-- calls:end -->'))
  const rows = [...table.matchAll(/^\| ([A-Z]+) \| `([^`]+)` \| (\w+) \|(.*)\|$/gm)]
  const listed = new Map<string, string>()
  const problems: string[] = []
  for (const [, method = '', call = '', result = '', note = ''] of rows) {
    const name = `${method} ${call}`
    if (listed.has(name)) problems.push(`${name} is listed twice`)
    if (result !== 'omitted' && !EXISTING.includes(result)) problems.push(`${name}: unknown result ${result}`)
    const needsNote = result === 'different' || result === 'omitted'
    if (needsNote && note.trim() === '') problems.push(`${name} has no reason`)
    listed.set(name, result)
  }
  const routes = [...(await readFile(ENDPOINTS_FILE, 'utf8')).matchAll(/^\| ([A-Z]+) \| `([^`]+)` \|/gm)]
  const served = new Set(
    routes.flatMap(([, method, call]) =>
      /^\/(?:api2|api\/v2\.1)\//.test(call ?? '') ? `${method} ${call}` : [],
    ),
  )
  assert.ok(served.size > 200, 'endpoints.md was not read')
  for (const [name, result] of listed) {
    if (EXISTING.includes(result) !== served.has(name)) {
      problems.push(`${name} is ${result}, but ${served.has(name) ? 'is' : 'is not'} served`)
    }
  }
  for (const name of served) if (!listed.has(name)) problems.push(`${name} is not listed`)
  assert.deepEqual(problems, [])
})
