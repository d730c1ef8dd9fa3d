import {
  anyOf,
  boolean,
  custom,
  literal,
  nothing,
  oneOfWords,
  record,
  type Schema,
  string,
  type ValueOf,
  wholeNumber,
} from './schema.ts'

// Schemas that many bodies share.

export {
  anyOf,
  array,
  custom,
  literal,
  nothing,
  number,
  object,
  oneOfWords,
  optional,
  record,
  string,
  unknown,
  without,
} from './schema.ts'

const matching = (description: string, pattern: string) => string({ description, pattern })
const about = (description: string | undefined) => (description === undefined ? {} : { description })

export const text = (description?: string) => string(about(description))
export const flag = (description?: string) => boolean(about(description))
export const integer = (description?: string) => wholeNumber(about(description))

/** A number that is never negative. */
export const count = (description: string) => wholeNumber({ description, minimum: 0 })

/** A value that may be null. */
export const orNull = <Value>(schema: Schema<Value>) => anyOf([schema, nothing()])

/** An object whose keys are names or ids. */
export const mapOf = <Described extends Schema>(schema: Described, description: string) =>
  custom<Record<string, ValueOf<Described>>>({ type: 'object', additionalProperties: schema, description })
export const libraryId = matching('The id of a library.', '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
export const objectId = matching('40 hexadecimal digits.', '^[0-9a-f]{40}$')
/** Of an entry that may have none. */
export const objectIdOrEmpty = matching('40 hexadecimal digits, or empty.', '^([0-9a-f]{40})?$')
export const account = text('The id of an account, in the form of an e-mail address.')
export const displayName = text('A name to show.')
export const contactEmail = text('The address for mail.')
export const size = count('In bytes.')
export const sizeText = text('The size as text to show, such as `81.3 KB`.')
export const unixTime = wholeNumber({ description: 'In Unix seconds.' })
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
export const successWord = literal('success')
/** `{"success": true}` */
export const successFlag = record('Success', { success: literal(true) })
