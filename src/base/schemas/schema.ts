// JSON schemas of request and response bodies, with the types of the values they describe. Plain data: the keywords of a schema are its fields.

declare const described: unique symbol
const omissible = Symbol('omissible')

/** A JSON schema. `Value` is the type of what it describes. */
export interface Schema<Value = unknown> {
  readonly [keyword: string]: unknown
  readonly [described]?: Value
}

/** The schema of a field that may be missing. */
interface OmissibleSchema<Value = unknown> extends Schema<Value> {
  readonly [omissible]: true
}

/** The fields of an object. */
type Properties = Readonly<Record<string, Schema>>

/** The schema of an object with known fields. */
interface ObjectSchema<Fields extends Properties = Properties> extends Schema<ObjectValue<Fields>> {
  readonly type: 'object'
  readonly properties: Fields
}

type OmissibleNames<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends OmissibleSchema ? Name : never
}[keyof Fields]

type ObjectValue<Fields extends Properties> = Flat<
  { [Name in Exclude<keyof Fields, OmissibleNames<Fields>>]: ValueOf<Fields[Name]> } & {
    [Name in OmissibleNames<Fields>]?: ValueOf<Fields[Name]>
  }
>

type Flat<Value> = { [Name in keyof Value]: Value[Name] }

/** The type of the values that a schema describes. */
export type ValueOf<Described> = Described extends Schema<infer Value> ? Value : never

/** Keywords that any schema may have. */
interface Annotations {
  readonly description?: string
  readonly title?: string
  /** What the description shows in place of what the generator makes up. */
  readonly examples?: readonly unknown[]
}

interface StringKeywords extends Annotations {
  readonly pattern?: string
  readonly format?: string
}

interface NumberKeywords extends Annotations {
  readonly minimum?: number
}

interface ArrayKeywords extends Annotations {
  readonly maxItems?: number
}

/** A schema that is none of the others. */
export function custom<Value>(keywords: Readonly<Record<string, unknown>>): Schema<Value> {
  return keywords
}

export const unknown = (): Schema => ({})
export const nothing = (): Schema<null> => ({ type: 'null' })
export const string = (keywords: StringKeywords = {}): Schema<string> => ({ type: 'string', ...keywords })
export const boolean = (keywords: Annotations = {}): Schema<boolean> => ({ type: 'boolean', ...keywords })
export const number = (keywords: NumberKeywords = {}): Schema<number> => ({ type: 'number', ...keywords })
export const wholeNumber = (keywords: NumberKeywords = {}): Schema<number> => ({
  type: 'integer',
  ...keywords,
})

/** A single value. */
export function literal<const Value extends string | number | boolean>(
  value: Value,
  keywords: Annotations = {},
): Schema<Value> {
  return { type: typeof value, const: value, ...keywords }
}

/** One of a few words. */
export function oneOfWords<const Words extends readonly string[]>(
  words: Words,
  description?: string,
): Schema<Words[number]> {
  return { enum: words, ...(description !== undefined && { description }) }
}

export function array<Item extends Schema>(
  items: Item,
  keywords: ArrayKeywords = {},
): Schema<ValueOf<Item>[]> {
  return { type: 'array', items, ...keywords }
}

/** A value that one of several schemas describes. */
export function anyOf<const Options extends readonly Schema[]>(
  options: Options,
  keywords: Annotations = {},
): Schema<ValueOf<Options[number]>> {
  return { anyOf: options, ...keywords }
}

/** A field that may be missing. */
export function optional<Value>(schema: Schema<Value>): OmissibleSchema<Value> {
  return { ...schema, [omissible]: true }
}

/** An object with these fields, and without a name. */
export function object<Fields extends Properties>(
  properties: Fields,
  keywords: Annotations = {},
): ObjectSchema<Fields> {
  const fields = Object.entries(properties)
  const required = fields.flatMap(([name, schema]) => (omissible in schema ? [] : [name]))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...keywords }
}

/** The same object without some of its fields. */
export function without<Fields extends Properties, Name extends keyof Fields & string>(
  { properties }: ObjectSchema<Fields>,
  names: readonly Name[],
): ObjectSchema<Omit<Fields, Name>> {
  const kept = Object.entries(properties).filter(([name]) => !(names as readonly string[]).includes(name))
  return object(Object.fromEntries(kept) as Omit<Fields, Name>)
}

/**
 * An object with a name, which the API description has once for all bodies that contain it. Its fields may be a function, which is called when a
 * test or a generator reads them: the server reads none, and has the names alone in memory.
 */
export function record<Fields extends Properties>(
  title: string,
  fields: Fields | (() => Fields),
): ObjectSchema<Fields> {
  let made: ObjectSchema<Fields> | undefined
  const make = () => (made ??= object(typeof fields === 'function' ? fields() : fields))
  return {
    type: 'object',
    get required() {
      return make()['required']
    },
    get properties() {
      return make().properties
    },
    title,
  }
}
