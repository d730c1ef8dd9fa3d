import type { Responses } from './responses.ts'

/**
 * The JSON of a successful response to a call, as the API description has it. Segments of the path that are not literals are its
 * parameters: `api2/repos/${string}/`. Unknown if the description has no such call.
 */
export type ResponseOf<Method extends keyof Responses, Path extends string> =
  KeyOf<Path> extends keyof Responses[Method] ? Responses[Method][KeyOf<Path>] : unknown

/** The key of a path in the types of responses: each parameter is `{}`. */
type KeyOf<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? `${Named<Segment>}/${KeyOf<Rest>}`
  : Named<Path>

/** No word of a path is a number, so a number is a parameter as well. */
type Named<Segment extends string> = string extends Segment
  ? '{}'
  : Segment extends `${number}`
    ? '{}'
    : Segment
