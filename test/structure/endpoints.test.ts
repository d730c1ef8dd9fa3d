import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { ENDPOINTS_FILE, endpointsPage } from '../../bin/endpoints.ts'
import { startServer } from '../support/server.ts'

it('the endpoint table of the docs is what the router serves', async () => {
  await using server = await startServer()
  const page = endpointsPage(server.running.endpoints)
  assert.equal(await readFile(ENDPOINTS_FILE, 'utf8'), page, 'run node bin/endpoints.ts --write')
})
