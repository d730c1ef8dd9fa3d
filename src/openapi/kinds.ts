import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'

// Schemas that many responses share.

const matching = (description: string, pattern: string) => Type.String({ description, pattern })

export const text = (description?: string) => Type.String(description === undefined ? {} : { description })
export const flag = (description?: string) => Type.Boolean(description === undefined ? {} : { description })
export const integer = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description })

/** A number that is never negative. */
export const count = (description: string) => Type.Integer({ description, minimum: 0 })

/** One of a few words. */
export const oneOfWords = <const Words extends string[]>(words: readonly [...Words], description?: string) =>
  Type.Enum([...words], description === undefined ? {} : { description })

/** A value that may be null. */
export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** An object whose keys are names or ids. */
export const mapOf = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Record<string, Static<Schema>>>({ type: 'object', additionalProperties: schema, description })

/** A record with a name, which the description has once for all responses that use it. */
export function record<Properties extends TProperties>(
  title: string,
  properties: Properties,
): TObject<Properties> {
  return Type.Object(properties, { title })
}

export const libraryId = matching('The id of a library.', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
export const objectId = matching('40 hexadecimal digits.', '^[0-9a-f]{40}$')
/** Of an entry that may have none. */
export const objectIdOrEmpty = matching('40 hexadecimal digits, or empty.', '^([0-9a-f]{40})?$')
export const account = text('The id of an account, in the form of an e-mail address.')
export const displayName = text('A name to show.')
export const contactEmail = text('The address for mail.')
export const size = count('In bytes.')
export const sizeText = text('The size as text to show, such as `81.3 KB`.')
export const unixTime = Type.Integer({ description: 'In Unix seconds.' })
export const isoTime = matching(
  'ISO 8601 with the offset from UTC.',
  '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[+-]\\d\\d:\\d\\d$',
)
export const timeElement = matching('An HTML `time` element with a relative text.', '^<time .*</time>$')
export const path = text('A path in the library, from its root.')
export const folderPath = text('The path of a folder. It ends with a slash.')
export const name = text('The name of a file or folder.')
export const url = matching('A URL.', '^https?://')
export const permission = oneOfWords(['rw', 'r'], 'Whether the caller may write, or only read.')

/** The body `"success"`. */
export const successWord = Type.Literal('success')
/** `{"success": true}` */
export const successFlag = record('Success', { success: Type.Literal(true) })
