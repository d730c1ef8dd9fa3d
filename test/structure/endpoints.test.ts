import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import { describedCalls } from '../../bin/described-calls.ts'
import { ENDPOINTS_FILE, endpointsPage } from '../../bin/endpoints.ts'
import { startServer } from '../support/server.ts'

it('the endpoint table of the docs is what the router serves, as the API description has it', async () => {
  await using server = await startServer()
  const { endpoints } = server.running
  const calls = await describedCalls()
  const page = endpointsPage(endpoints, calls)
  assert.equal(await readFile(ENDPOINTS_FILE, 'utf8'), page, 'run node bin/endpoints.ts --write')
  const served = new Set(endpoints.map(({ method, path }) => `${method} ${path}`))
  assert.deepEqual(
    calls.map(({ method, path }) => `${method} ${path}`).filter((name) => !served.has(name)),
    [],
    'the description has calls that the router does not serve',
  )
})
