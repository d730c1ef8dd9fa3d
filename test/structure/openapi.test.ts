import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { DESCRIPTION_FILE, descriptionText, surfaces } from '../../bin/openapi.ts'
import { describeApi } from '../../src/openapi/index.ts'
import { CANARIES } from '../api/matrix/stage.ts'
import { differencesOf } from '../support/exchanges.ts'

describe('the API description', () => {
  it('is what the routes and their schemas say', async () => {
    assert.equal(
      await readFile(DESCRIPTION_FILE, 'utf8'),
      await descriptionText(),
      'run node bin/openapi.ts --write',
    )
  })

  it('cannot be made while a route has no schema', () => {
    const [surface] = surfaces
    assert.ok(surface)
    const operations = surface.operations.filter(({ route }) => route !== 'GET /api2/repos/')
    assert.throws(() => describeApi([{ ...surface, operations }], { version: '1' }), /GET \/api2\/repos\/$/)
  })

  it('has examples that match it', async () => {
    const { paths } = JSON.parse(await readFile(DESCRIPTION_FILE, 'utf8')) as {
      paths: Record<string, Record<string, { responses: Record<string, Response> }>>
    }
    type Response = { content?: { 'application/json'?: { example?: unknown } } }
    let count = 0
    for (const [template, methods] of Object.entries(paths)) {
      const url = new URL(`http://localhost${template.replace(/\{\w+\}/g, 'x')}`)
      for (const [method, { responses }] of Object.entries(methods)) {
        for (const [status, { content }] of Object.entries(responses)) {
          const example = content?.['application/json']?.example
          if (example === undefined) continue
          count += 1
          const differences = differencesOf({
            method: method.toUpperCase(),
            url,
            body: undefined,
            status: Number(status),
            contentType: 'application/json',
            text: JSON.stringify(example),
          })
          // There is no request.
          assert.deepEqual(
            differences.filter((difference) => !difference.includes('the query lacks')),
            [],
          )
        }
      }
    }
    assert.ok(count > 40, `${count} examples`)
  })

  it('has no word that the role matrix takes for a leak', async () => {
    const text = (await readFile(DESCRIPTION_FILE, 'utf8')).toLowerCase()
    assert.deepEqual(
      CANARIES.filter((word) => text.includes(word.toLowerCase())),
      [],
    )
  })

  it('has one id for each operation, and no reference to nothing', async () => {
    const text = await readFile(DESCRIPTION_FILE, 'utf8')
    const { paths, components } = JSON.parse(text) as {
      paths: Record<string, Record<string, { operationId: string }>>
      components: Record<string, Record<string, unknown>>
    }
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    )
    assert.equal(new Set(ids).size, ids.length)
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      assert.ok(components[kind]?.[name] !== undefined, `${kind}/${name} does not exist`)
    }
  })
})
