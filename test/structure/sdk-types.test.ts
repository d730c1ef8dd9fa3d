import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DescribedResponses, typesText } from '../../bin/sdk-types.ts'

/** A description of one call. */
function describing(
  schema: object,
  schemas: DescribedResponses['components']['schemas'] = {},
): DescribedResponses {
  const responses = { 200: { content: { 'application/json': { schema } } }, 404: {} }
  return { paths: { '/api2/things/{id}/': { get: { responses } } }, components: { schemas } }
}

describe('the response types of the SDK', () => {
  const kinds: [type: string, schema: object][] = [
    ['string | null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ["readonly ('a' | 1)[]", { type: 'array', items: { enum: ['a', 1] } }],
    [
      'readonly (readonly number[])[]',
      { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    ],
    ['readonly [string, true]', { type: 'array', prefixItems: [{ type: 'string' }, { const: true }] }],
    ['Readonly<Record<string, number>>', { type: 'object', additionalProperties: { type: 'number' } }],
    ["'it\\'s'", { const: "it's" }],
  ]
  for (const [type, schema] of kinds) {
    it(`have ${type}`, () => {
      const line = `    'api2/things/{}/': ${type}`
      assert.ok(typesText(describing(schema)).split('\n').includes(line), typesText(describing(schema)))
    })
  }

  it('have records that other records name, and no others', () => {
    const named = { $ref: '#/components/schemas/Outer' }
    const schemas = {
      Inner: { type: 'object', properties: { 'a-b': { type: 'string' } }, required: ['a-b'] },
      Outer: { type: 'object', properties: { inner: { $ref: '#/components/schemas/Inner' } } },
      Unused: { type: 'string' },
    }
    const types = typesText(describing(named, schemas))
    assert.match(types, /Inner: \{\n {4}readonly 'a-b': string\n {2}\}/)
    assert.match(types, /readonly inner\?: Records\['Inner'\]/)
    assert.doesNotMatch(types, /Unused/)
  })

  it('cannot be made of a name that the description lacks', () => {
    assert.throws(() => typesText(describing({ $ref: '#/components/schemas/Lost' })), /Lost/)
  })
})
