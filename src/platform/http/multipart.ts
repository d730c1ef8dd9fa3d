import { TimeSlicer } from '../../base/scheduling/index.ts'
import { boundaryOf, type FilePart, MultipartStream } from '../input/index.ts'
import { detail, type Refusal } from '../responses/index.ts'

/** One part of a form: its name, and its text or its file. */
type Part = readonly [name: string, value: string | FilePart]

/** Parses a multipart/form-data body that is in memory. */
export async function parseMultipart(contentType: string, bytes: Buffer, maxParts: number): Promise<Part[]> {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) throw malformed('there is no boundary')
  const chunks = [bytes]
  const options = { malformed, maxParts, maxTextBytes: bytes.length }
  const form = new MultipartStream(() => chunks.shift(), boundary, options)
  const parts: Part[] = []
  const slicer = new TimeSlicer()
  for (let part = await form.next(); part !== undefined; part = await form.next()) {
    // 20,000 empty parts fit into 1 MiB. The promises of a body in memory resolve in one turn.
    if (slicer.isDue) await slicer.rest()
    const { name, filename, headers } = part
    if (filename === undefined) parts.push([name, await part.text()])
    else {
      const content = part.takeWhole(bytes.length)
      if (content === undefined) throw malformed('a part has no end')
      parts.push([name, { filename, contentType: headers.get('content-type'), bytes: content }])
    }
  }
  return parts
}

function malformed(reason: string): Refusal {
  return detail(400, `Multipart form parse error - ${reason}`)
}
