import { accepting, type Reader } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'

/** `operation` in any case. Rejects a missing value with "operation invalid.", an unknown one with `message`. */
export function operationOf<const T extends string>(messages: readonly T[], message: string): Reader<T> {
  return accepting({ type: 'string', enum: messages, required: true }, (fields, name) => {
    const sent = fields.text(name)
    if (!sent) throw errorMessage(400, `${name} invalid.`)
    const found = messages.find((word) => word === sent.toLowerCase())
    if (found === undefined) throw errorMessage(400, message)
    return found
  })
}
