import { kinds } from '../../base/schemas/index.ts'

// Examples of bodies, made from their schemas. A schema that has `examples` says itself what is shown.

interface ReadSchema {
  readonly type?: string
  readonly description?: string
  readonly pattern?: string
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ReadSchema[]
  readonly items?: ReadSchema
  readonly prefixItems?: readonly ReadSchema[]
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, ReadSchema>>
  readonly additionalProperties?: ReadSchema | boolean
  readonly minimum?: number
}

/** Longer examples tell nothing that the fields do not. */
const LARGEST_EXAMPLE = 2000

/** An example of what one of some schemas describes, that with the most fields; undefined if all would be long. */
export function exampleOf(schemas: readonly unknown[]): unknown {
  return fullest(schemas.map((schema) => valueOf(schema as ReadSchema, '')))
}

function fullest(examples: readonly unknown[]): unknown {
  const measured = examples.map((example) => ({ example, length: JSON.stringify(example).length }))
  const short = measured.filter(({ length }) => length <= LARGEST_EXAMPLE)
  return short.toSorted((a, b) => b.length - a.length)[0]?.example
}

function valueOf(schema: ReadSchema, name: string): unknown {
  if (schema.examples !== undefined) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) {
    return (
      fullest(schema.anyOf.map((option) => (option.type === 'null' ? null : valueOf(option, name)))) ?? null
    )
  }
  if (schema.type === 'array') {
    if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => valueOf(item, name))
    return schema.maxItems === 0 || schema.items === undefined ? [] : [valueOf(schema.items, name)]
  }
  if (schema.type === 'object') return objectOf(schema, name)
  if (schema.type === 'integer' || schema.type === 'number') return numberOf(schema, name)
  if (schema.type === 'boolean') return false
  return schema.type === 'string' ? textOf(schema, name) : null
}

function objectOf({ properties, additionalProperties }: ReadSchema, name: string): unknown {
  if (properties !== undefined) {
    return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, valueOf(value, key)]))
  }
  return typeof additionalProperties === 'object' ? { name: valueOf(additionalProperties, name) } : {}
}

/** 17 November 2026, 12:00. */
const UNIX_TIME = 1_794_916_800

function numberOf({ description = '', minimum = 1 }: ReadSchema, name: string): number {
  if (/microseconds/.test(description)) return UNIX_TIME * 1e6
  if (/Unix seconds/.test(description)) return UNIX_TIME
  if (description === kinds.size['description'] || name.endsWith('size')) return 83_251
  return Math.max(1, minimum)
}

const ACCOUNT = 'ann@example.org'
const DIGITS = '0000000000000000000000000000000000000001'
const LIBRARY_ID = '00000000-0000-4000-8000-000000000001'

/** By what the schema says. */
const OF_KINDS = new Map<unknown, string>([
  [kinds.libraryId['pattern'], LIBRARY_ID],
  [kinds.objectId['pattern'], DIGITS],
  [kinds.objectIdOrEmpty['pattern'], DIGITS],
  [kinds.isoTime['pattern'], '2026-11-17T12:00:00+00:00'],
  [kinds.timeElement['pattern'], '<time datetime="2026-11-17T12:00:00" is="relative-time">2026-11-17</time>'],
  [kinds.url['pattern'], 'https://files.example.org/'],
  [kinds.account['description'], ACCOUNT],
  [kinds.displayName['description'], 'Ann'],
  [kinds.contactEmail['description'], ACCOUNT],
  [kinds.sizeText['description'], '81.3 KB'],
  [kinds.path['description'], '/docs/plan.txt'],
  [kinds.folderPath['description'], '/docs/'],
  [kinds.name['description'], 'plan.txt'],
])

/** By the name of the field. */
const OF_FIELDS: readonly [pattern: RegExp, example: string][] = [
  [/email|^owner$|^user(?:name)?$|creator$|^actor$|^admins$/, ACCOUNT],
  [/repo_name$/, 'Plans'],
  [/repo_id$|uuid|task_id$/, LIBRARY_ID],
  [/token|_id$|^id$|_key$|magic|hash|secret|^oid$/, DIGITS],
  [/(?:_|^)(?:date|time|day)$|_at$|taken/, '2026-11-17T12:00:00+00:00'],
  [/path$|^parent_dir$/, '/docs/plan.txt'],
  [/link$|url$/, 'https://files.example.org/'],
  [/(?:^|_)ip$|address/, '127.0.0.1'],
  [/name$/, 'Plans'],
  [/perm(?:ission)?$/, 'rw'],
]

function textOf({ pattern, description = '' }: ReadSchema, name: string): string {
  const known = OF_KINDS.get(pattern) ?? OF_KINDS.get(description)
  if (known !== undefined) return known
  // Such as \`Empty of a plain library.\`
  if (/^Empty|Always empty/.test(description)) return ''
  return OF_FIELDS.find(([field]) => field.test(name))?.[1] ?? 'text'
}
