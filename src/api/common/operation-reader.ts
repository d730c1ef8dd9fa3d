import { errorMessage, type Reader } from '../../http/index.ts'

/** `operation` in any case. Refuses nothing sent with "operation invalid.", another word with `message`. */
export function operationOf<const T extends string>(words: readonly T[], message: string): Reader<T> {
  return (fields, name) => {
    const sent = fields.text(name)
    if (!sent) throw errorMessage(400, `${name} invalid.`)
    const found = words.find((word) => word === sent.toLowerCase())
    if (found === undefined) throw errorMessage(400, message)
    return found
  }
}
