import { accepting, type Reader } from '../../../platform/input/index.ts'
import { notFound } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'

/** The id of a comment or a tag in the path of a URL. Anything else is answered with 404. */
export const annotationIdParam: Reader<number> = accepting(
  { type: 'integer', minimum: 1 },
  (fields, name) => {
    const id = parseInteger(fields.text(name) ?? '')
    if (id === undefined || id < 1 || !Number.isSafeInteger(id)) throw notFound()
    return id
  },
)
