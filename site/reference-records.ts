import type { Description, Schema } from '../bin/description.ts'
import { anchorOf, escapeText, table } from './markdown.ts'

/** The records that a page names. Those that stand in tables of others are described at its end. */
export class Records {
  readonly #schemas: Description['components']['schemas']
  readonly #elsewhere: ReadonlySet<string>
  readonly #linked = new Set<string>()

  /** `elsewhere` are those that the introduction describes. */
  constructor({ components }: Description, elsewhere: readonly string[]) {
    this.#schemas = components.schemas
    this.#elsewhere = new Set(elsewhere)
  }

  /** The schema that a reference names. Throws if there is none. */
  resolve(schema: Schema): Schema {
    const name = nameOf(schema)
    if (name === undefined) return schema
    const found = this.#schemas[name]
    if (found === undefined) throw new Error(`The description has no schema ${name}.`)
    return found
  }

  /** The type of a value. Records are links, except the one whose fields follow (`isInlined`). */
  typeText(schema: Schema, { isInlined = false } = {}): string {
    const name = nameOf(schema)
    const here = this.resolve(schema)
    if (name !== undefined && here.properties !== undefined) {
      return isInlined ? `\`${name}\`` : this.#link(name)
    }
    if (here.const !== undefined) return `\`${JSON.stringify(here.const)}\``
    if (here.enum !== undefined) return listed(here.enum.map((word) => `\`${String(word) || '""'}\``))
    if (here.anyOf !== undefined) {
      return [...new Set(here.anyOf.map((variant) => this.typeText(variant)))].join(' or ')
    }
    if (here.prefixItems !== undefined) {
      return `array of ${here.prefixItems.map((item) => this.typeText(item)).join(', then ')}`
    }
    if (here.type === 'array') return `array of ${this.typeText(here.items ?? {}, { isInlined })}`
    if (typeof here.additionalProperties === 'object') {
      return `map of ${this.typeText(here.additionalProperties, { isInlined })}`
    }
    if (here.format === 'binary') return 'file'
    if (here.maximum !== undefined) {
      const range = here.minimum === undefined ? 'up' : `from ${here.minimum}`
      return `${here.type} ${range} to ${here.maximum}`
    }
    return here.type ?? 'any value'
  }

  /** Tables of the fields of a value. Fields are marked where they are required, or where they are optional. */
  tables(schema: Schema, mark: Mark): string[] {
    const rows = this.#rows(schema, '', mark, true)
    return rows.length === 0 ? [] : [table(['Field', 'Type', 'Meaning'], rows)]
  }

  /** The records that were linked on this page, and those that they link. */
  sections(level: string): string[] {
    const sections = new Map<string, string>()
    // Grows while it is iterated.
    for (const name of this.#linked) {
      const schema = this.#schemas[name] ?? {}
      const about = schema.description === undefined ? [] : [inline(schema.description)]
      sections.set(name, [`${level} ${name}`, ...about, ...this.tables(schema, 'optional')].join('\n\n'))
    }
    return [...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)
  }

  #link(name: string): string {
    if (this.#elsewhere.has(name)) return `[${name}](./index.md#${anchorOf(name)})`
    this.#linked.add(name)
    return `[${name}](#${anchorOf(name)})`
  }

  /**
   * A row for each field, and for those of objects without a name in it. `place` is where the value is, such as `nodes[]`. Records in it are
   * described at the end of the page, unless `withRecords`.
   */
  #rows(schema: Schema, place: string, mark: Mark, withRecords: boolean): string[][] {
    const here = this.resolve(schema)
    if (schema.$ref !== undefined && here.properties !== undefined && !withRecords) return []
    if (here.items !== undefined) return this.#rows(here.items, `${place}[]`, mark, withRecords)
    if (typeof here.additionalProperties === 'object') {
      return this.#rows(here.additionalProperties, below(place, '*'), mark, withRecords)
    }
    if (here.anyOf !== undefined) {
      return here.anyOf.flatMap((variant) => this.#rows(variant, place, mark, false))
    }
    const required = new Set(here.required)
    return Object.entries(here.properties ?? {}).flatMap(([name, field]) => {
      const isMarked = required.has(name) === (mark === 'required')
      const type = `${this.typeText(field)}${isMarked ? `, ${mark}` : ''}`
      const at = below(place, name)
      const meaning = meaningOf({ ...this.resolve(field), ...field })
      return [[`\`${at}\``, type, meaning], ...this.#rows(field, at, mark, false)]
    })
  }
}

/** Which fields of a table are marked. */
type Mark = 'required' | 'optional'

function below(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

/** What a field means, with its default. */
export function meaningOf(schema: Schema): string {
  // The description of a value that may be null is that of the value.
  const descriptions = [schema, ...(schema.description === undefined ? (schema.anyOf ?? []) : [])].flatMap(
    ({ description }) => (description === undefined ? [] : [inline(description)]),
  )
  return [
    ...new Set(descriptions),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
    ...(schema['x-lenient'] === true ? ['Invalid values count as not sent.'] : []),
  ].join(' ')
}

export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** A text of the description, in which only code has a meaning. */
export function inline(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? part.replaceAll('|', '\\|') : escapeText(part)))
    .join('')
}
