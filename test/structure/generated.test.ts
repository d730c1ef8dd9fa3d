import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describedCalls } from '../../bin/described-calls.ts'
import { readDescription } from '../../bin/description.ts'
import { builtFiles, outdatedOf, storedFiles, withPart } from '../../bin/generate.ts'
import { startServer } from '../support/server.ts'

describe('the generated files', () => {
  it('in git are what the routes say', async () => {
    assert.deepEqual(await outdatedOf(await storedFiles()), [], 'run npm run generate')
  })

  it('that are built can be made', () => {
    assert.ok([...builtFiles().keys()].every((file) => file.endsWith('.py')))
  })

  it('name no call that the router does not serve', async () => {
    await using server = await startServer()
    const served = new Set(server.running.endpoints.map(({ method, path }) => `${method} ${path}`))
    const described = describedCalls(readDescription()).map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      described.filter((name) => !served.has(name)),
      [],
    )
  })

  it('are not written into a page without a place for them', () => {
    assert.throws(() => withPart('a page', 'calls', 'text'), /no <!-- calls:begin -->/)
  })
})
