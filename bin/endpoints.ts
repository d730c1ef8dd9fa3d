import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Endpoint } from '../src/http/route.ts'
import { startServer } from '../test/support/server.ts'

// `node bin/endpoints.ts --write` brings the endpoint table of the docs up to date with the router;
// without the flag it only says whether it is.

export const ENDPOINTS_FILE = path.join(import.meta.dirname, '../docs/endpoints.md')

const INTRODUCTION = `# Endpoints

Every call the server answers, with who may make it: anybody (*none*), whoever holds an API token (*user*), an
administrator (*admin*), whoever holds a library token (*library*). A word after *user* says what a personal token must
allow (*read*, *write*, *upload*) to be let in; without one, no personal token is. Paths are served with and without the slash at their end, HEAD wherever GET is, and bodies are
taken as urlencoded, multipart and JSON alike. Written by \`node bin/endpoints.ts --write\`; a test holds it against the
router.
`

/** The page for a list of endpoints. */
export function endpointsPage(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(({ method, path, auth, scope, summary }) => {
    const who = scope === 'none' ? auth : `${auth}, ${scope}`
    return `| ${method} | \`${path}\` | ${who} | ${summary.replaceAll('|', '\\|')} |`
  })
  const sorted = rows.toSorted((a, b) => (byPath(a) < byPath(b) ? -1 : 1))
  return `${INTRODUCTION}\n| Method | Path | Who | What |\n| --- | --- | --- | --- |\n${sorted.join('\n')}\n`
}

function byPath(row: string): string {
  const [, method = '', at = ''] = row.split('|')
  return `${at} ${method}`
}

if (import.meta.main) {
  await using server = await startServer()
  const page = endpointsPage(server.running.endpoints)
  if (process.argv.includes('--write')) await writeFile(ENDPOINTS_FILE, page)
  else if ((await readFile(ENDPOINTS_FILE, 'utf8')) !== page) {
    console.error('docs/endpoints.md is not what the router serves: run node bin/endpoints.ts --write.')
    process.exitCode = 1
  }
}
