import type { Description, Response, Schema } from './description.ts'

// The response types of the SDK.

/** What the types are generated from. */
export interface DescribedResponses {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Call>>>>
  readonly components: Pick<Description['components'], 'schemas'>
}

interface Call {
  readonly responses: Readonly<Record<string, Pick<Response, 'content'>>>
}

/** The file of types: all named records, then the JSON of successful responses by method and path. */
export function typesText({ paths, components }: DescribedResponses): string {
  const used = new Set<string>()
  const typeOf = (schema: Schema) => typeText(schema, used)
  const byMethod = new Map<string, string[]>()
  for (const [template, calls] of Object.entries(paths)) {
    for (const [method, call] of Object.entries(calls)) {
      const bodies = successBodies(call)
      if (bodies.length === 0) continue
      const lines = byMethod.get(method.toUpperCase()) ?? []
      lines.push(`    '${keyOf(template)}': ${typeOf({ anyOf: bodies })}`)
      byMethod.set(method.toUpperCase(), lines)
    }
  }
  // A record can name further ones, which are appended to the set while it is read.
  const records = new Map<string, string>()
  for (const name of used) {
    const schema = components.schemas[name]
    if (schema === undefined) throw new Error(`The description lacks the schema ${name}`)
    records.set(name, typeOf(schema))
  }
  const named = [...records].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `// Generated from the API description by bin/sdk-types.ts. Changes belong in the schemas of the routes.

/** The records of responses, by their names in the API description. */
export interface Records {
${named.map(([name, type]) => `  ${name}: ${indented(type, '  ')}`).join('\n')}
}

/** The JSON of successful responses, by method and path. \`{}\` stands for a parameter of the path. */
export interface Responses {
${[...byMethod].map(([method, lines]) => `  ${method}: {\n${lines.map((line) => indented(line, '    ')).join('\n')}\n  }`).join('\n')}
}
`
}

function successBodies({ responses }: Call): Schema[] {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => content['application/json']?.schema ?? [])
}

/** Clients name paths without the leading slash, relative to the root of the server. */
function keyOf(template: string): string {
  return template.replace(/^\//, '').replace(/\{\w+\}/g, '{}')
}

function typeText(schema: Schema, used: Set<string>): string {
  const { $ref, anyOf, type, items, prefixItems } = schema
  const typeOf = (part: Schema) => typeText(part, used)
  if ($ref !== undefined) {
    const name = $ref.replace('#/components/schemas/', '')
    used.add(name)
    return `Records['${name}']`
  }
  if (anyOf !== undefined) return [...new Set(anyOf.flatMap(variantsOf).map(typeOf))].join(' | ')
  if ('const' in schema) return literal(schema.const)
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (prefixItems !== undefined) return `readonly [${prefixItems.map(typeOf).join(', ')}]`
  if (type === 'array')
    return items === undefined ? 'readonly unknown[]' : `readonly ${inArray(typeOf(items))}[]`
  if (type === 'object') return objectText(schema, typeOf)
  if (type === 'integer') return 'number'
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'null') return type
  if (type === undefined) return 'unknown'
  throw new Error(`No type of TypeScript stands for the type ${type}`)
}

function variantsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf?.flatMap(variantsOf) ?? [schema]
}

function objectText(
  { properties, required = [], additionalProperties }: Schema,
  typeOf: (schema: Schema) => string,
): string {
  if (properties === undefined || Object.keys(properties).length === 0) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
    return `Readonly<Record<string, ${values}>>`
  }
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
    const comment = schema.description === undefined ? '' : `  /** ${schema.description} */\n`
    const type = indented(typeOf(schema), '  ')
    return `${comment}  readonly ${key}${required.includes(name) ? '' : '?'}: ${type}`
  })
  return `{\n${lines.join('\n')}\n}`
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll(/['\\]/g, '\\$&')}'` : String(value)

const inArray = (type: string) => (/^readonly |^[^{]* \| /.test(type) ? `(${type})` : type)

/** All lines but the first, which continues one, are moved to the right. */
const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`)
