import { SaxesParser } from 'saxes'
import { ClientError } from './client-error.ts'

/** Deeper elements are refused. */
const MAX_DEPTH = 50
/** Characters of one value. */
const MAX_TEXT = 16_384

/** The properties to ask for. */
export const LISTED_PROPERTIES =
  '<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/></prop></propfind>'

/** One resource of a multistatus response. Values are as the server wrote them. */
interface ListedResource {
  readonly href: string
  readonly isFolder: boolean
  readonly length: string | undefined
  readonly modified: string | undefined
}

interface Properties {
  status: string
  isFolder: boolean
  length: string | undefined
  modified: string | undefined
}

/** Reads the resources of a multistatus response (RFC 4918) as it arrives. A document type is refused, so there are no entities to expand. Throws ClientError. */
export async function* readListing(body: ReadableStream<Uint8Array>): AsyncGenerator<ListedResource> {
  const found: ListedResource[] = []
  const parser = parserInto(found)
  try {
    for await (const text of body.pipeThrough(new TextDecoderStream('utf-8', { fatal: true }))) {
      parser.write(text)
      yield* found.splice(0)
    }
    parser.close()
  } catch (error) {
    if (error instanceof ClientError || !isOfContent(error)) throw error
    throw malformed(error instanceof Error ? error.message : String(error), error)
  }
  yield* found
}

const isOfContent = (error: unknown) => error instanceof XmlError || error instanceof TypeError

class XmlError extends Error {
  override name = 'XmlError'
}

function parserInto(found: ListedResource[]) {
  const parser = new SaxesParser({ xmlns: true, position: false })
  /** Local names of the open elements; empty for those of other namespaces. */
  const open: string[] = []
  let text = ''
  let href = ''
  let properties = noProperties()
  let accepted = noProperties()
  parser.on('error', (error) => {
    throw new XmlError(error.message)
  })
  parser.on('doctype', () => {
    throw new XmlError('it has a document type')
  })
  parser.on('opentag', ({ uri, local }) => {
    if (open.length >= MAX_DEPTH) throw new XmlError('it is too deep')
    const name = uri === 'DAV:' ? local : ''
    if (name === 'response') {
      href = ''
      accepted = noProperties()
    }
    if (name === 'propstat') properties = noProperties()
    if (name === 'collection' && open.at(-1) === 'resourcetype') properties.isFolder = true
    open.push(name)
    text = ''
  })
  const addText = (more: string) => {
    text += more
    if (text.length > MAX_TEXT) throw new XmlError('a value is too long')
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const name = open.pop()
    const parent = open.at(-1)
    if (name === 'href' && parent === 'response') href = text.trim()
    else if (name === 'status' && parent === 'propstat') properties.status = text.trim()
    else if (name === 'getcontentlength' && parent === 'prop') properties.length = text.trim()
    else if (name === 'getlastmodified' && parent === 'prop') properties.modified = text.trim()
    // Properties that the server does not have are in a propstat with another status.
    else if (name === 'propstat' && /^HTTP\/\S+ 2\d\d\b/.test(properties.status)) accepted = properties
    else if (name === 'response' && href !== '') {
      const { isFolder, length, modified } = accepted
      found.push({ href, isFolder, length, modified })
    }
    text = ''
  })
  return parser
}

const noProperties = (): Properties => ({
  status: '',
  isFolder: false,
  length: undefined,
  modified: undefined,
})

function malformed(reason: string, cause: unknown): ClientError {
  const message = `The response is not a list of WebDAV (${reason.slice(0, 200)}): is this the right URL?`
  return new ClientError(message, undefined, { cause })
}
