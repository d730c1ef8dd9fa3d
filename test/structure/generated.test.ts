import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { describedCalls } from '../../bin/described-calls.ts'
import { readDescription } from '../../bin/description.ts'
import { builtFiles, outdatedOf, storedFiles, withPart } from '../../bin/generate.ts'
import { startServer } from '../support/server.ts'

const root = path.join(import.meta.dirname, '../..')

describe('the generated files', () => {
  it('in git are what the routes say', async () => {
    assert.deepEqual(await outdatedOf(await storedFiles()), [], 'run npm run generate')
  })

  it('that are built are not in git', async () => {
    const files = [...(await builtFiles()).keys()]
    const ignored = readFileSync(path.join(root, '.gitignore'), 'utf8').split('\n')
    assert.ok(files.length > 5)
    assert.deepEqual(
      files.filter((file) => !ignored.some((pattern) => path.matchesGlob(file, pattern))),
      [],
    )
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
