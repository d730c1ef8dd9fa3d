import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readDescription } from '../../bin/description.ts'
import { describeApi, descriptionText } from '../../src/platform/openapi/index.ts'
import { describedSurfaces } from '../../src/programs/server/api-description.ts'
import { CANARIES } from '../api/matrix/stage.ts'
import { differencesOf } from '../support/exchanges.ts'

describe('the API description', () => {
  const text = JSON.stringify(readDescription())

  it('is the same where a server makes it in turns', async () => {
    assert.equal(await descriptionText(describedSurfaces), text)
  })

  it('cannot be made while a route does not say how it answers', () => {
    const [surface] = describedSurfaces
    assert.ok(surface)
    const routes = surface.routes.map((route) =>
      route.path === '/api2/repos/' ? { ...route, responses: undefined } : route,
    )
    assert.throws(() => describeApi([{ ...surface, routes }]), /GET \/api2\/repos\/ does not say/)
  })

  it('has examples that match it', async () => {
    const { paths } = JSON.parse(text) as {
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
          const differences = await differencesOf({
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

  it('has no word that the role matrix takes for a leak', () => {
    const lower = text.toLowerCase()
    assert.deepEqual(
      CANARIES.filter((word) => lower.includes(word.toLowerCase())),
      [],
    )
  })

  it('has one id for each operation, and no reference to nothing', () => {
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
