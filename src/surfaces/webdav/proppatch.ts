import { parentOf, ROOT } from '../../base/paths/index.ts'
import {
  changeProperties,
  checksumsOf,
  type DeadProperty,
  type FileChecksums,
} from '../../libraries/attributes/index.ts'
import { modificationTime, setTime } from '../../libraries/edits/index.ts'
import type { Account } from '../../people/accounts/index.ts'
import { type HttpRequest, type RequestBody, readBody } from '../../platform/http/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import { addressOf, hrefOf } from './address.ts'
import { confirms, isChecksums } from './checksum-property.ts'
import { isCreationTime, isModificationTime, isUnixTime, parseModificationTime } from './item-times.ts'
import { Preconditions } from './preconditions.ts'
import { isLive, keyOf, propstat } from './property-query.ts'
import { changeable, existing, findResource, type LibraryResource, refuseClosed } from './resource.ts'
import { davError, xmlResponse } from './responses.ts'
import type { WebdavServices } from './services.ts'
import { elementsOf, isDav, languageOf, parseLongXml, serialize, type XmlElement } from './xml-reader.ts'
import { MULTISTATUS_END, multistatusNamespaces, multistatusStart } from './xml-writer.ts'

const MAX_BODY = 128 * 1024
const MAX_CHANGES = 500
const PROTECTED = '403 Forbidden'
/** RFC 4918, 9.2.1: the value does not fit the property. */
const UNFIT = '409 Conflict'

/** One instruction of a request. */
interface Change {
  readonly namespace: string
  readonly name: string
  /** Undefined removes the property. */
  readonly xml: string | undefined
  /** All text in the element. */
  readonly text: string
  /** Unix seconds, if it sets the modification time of the item. */
  readonly mtime?: number | undefined
}

/** PROPPATCH: stores and removes dead properties, all or none. Live ones are protected. Windows and rclone set the time of a file this way. */
export async function changeItemProperties(
  services: WebdavServices,
  user: Account,
  request: HttpRequest,
  body: RequestBody,
): Promise<HttpResponse> {
  const resource = existing(changeable(await findResource(services, user, addressOf(request))))
  await refuseClosed(services, resource.library)
  const editable = resource.library.editable(parentOf(resource.path))
  const changes = await readChanges(await readBody(body, MAX_BODY, request.bodyClaim))
  const conditions = new Preconditions(services, request, user)
  await conditions.check(resource)
  await conditions.refuseLocked(resource, [[resource.path, 'changes']])
  const href = hrefOf(resource.address, resource.kind === 'folder')
  const checksums = changes.some(isChecksums) ? await checksumsAt(services, resource) : undefined
  const refusals = changes.map((change) => refusalOf(change, services.now(), checksums))
  if (refusals.some((one) => one !== undefined)) {
    // RFC 4918, 9.2: the instructions are executed all or none.
    const having = (status?: string) => changes.filter((_, index) => refusals[index] === status)
    return multistatus(href, [
      [having(PROTECTED), PROTECTED],
      [having(UNFIT), UNFIT],
      [having(), '424 Failed Dependency'],
    ])
  }
  const kept = changes.filter((change) => !isModificationTime(change) && !isChecksums(change))
  const { core } = services
  const isStored =
    kept.length === 0 ||
    (await changeProperties(core, editable, resource.path, (properties) => changed(properties, kept)))
  const { mtime } = changes.findLast((change) => change.mtime !== undefined) ?? {}
  // The root of a library has no entry, and so no time of its own.
  if (isStored && mtime !== undefined && resource.path !== ROOT) {
    await setTime(core, editable, resource.path, mtime)
  }
  return multistatus(href, [[changes, isStored ? '200 OK' : '507 Insufficient Storage']])
}

async function checksumsAt({ core }: WebdavServices, { library, entry }: LibraryResource) {
  return entry?.kind === 'file' ? (await checksumsOf(core, library, [entry.id])).get(entry.id) : undefined
}

/** The status of an instruction that cannot be executed; undefined if it can. */
function refusalOf(change: Change, now: number, checksums: FileChecksums | undefined): string | undefined {
  // rclone sends the checksum of the file with its new time.
  if (isChecksums(change)) return confirms(change.text, checksums) ? undefined : UNFIT
  if (isUnixTime(change)) {
    const { xml, mtime } = change
    const isKept = xml === undefined || (mtime !== undefined && modificationTime(mtime, now) === mtime)
    return isKept ? undefined : UNFIT
  }
  return isLive(change) && !isCreationTime(change) && !isModificationTime(change) ? PROTECTED : undefined
}

function changed(properties: readonly DeadProperty[], changes: readonly Change[]): DeadProperty[] {
  const all = new Map(properties.map((one) => [keyOf(one), one]))
  for (const { namespace, name, xml } of changes) {
    const key = keyOf({ namespace, name })
    all.delete(key)
    if (xml !== undefined) all.set(key, { namespace, name, xml })
  }
  return [...all.values()]
}

function multistatus(
  href: string,
  groups: readonly (readonly [changes: readonly Change[], status: string])[],
) {
  const namespaces = multistatusNamespaces()
  const parts = groups
    .filter(([changes]) => changes.length > 0)
    .map(([changes, status]) => {
      const names = changes.map(({ namespace, name }) => `<${namespaces.elementName(namespace, name)}/>`)
      return propstat(names.join(''), status)
    })
  const response = `<d:response><d:href>${href}</d:href>${parts.join('')}</d:response>`
  return xmlResponse(207, multistatusStart(namespaces) + response + MULTISTATUS_END)
}

/** The instructions in order. Throws a refusal. */
async function readChanges(bytes: Buffer): Promise<Change[]> {
  const root = await parseLongXml(bytes)
  if (!isDav(root, 'propertyupdate')) throw davError(400, 'The XML of the request changes no properties.')
  const changes: Change[] = []
  for (const instruction of elementsOf(root)) {
    const isSet = isDav(instruction, 'set')
    if (!isSet && !isDav(instruction, 'remove')) continue
    for (const prop of elementsOf(instruction).filter((one) => isDav(one, 'prop'))) {
      // RFC 4918, 4.3: the language in scope is part of a property.
      const language = languageOf(prop) ?? languageOf(instruction) ?? languageOf(root)
      for (const element of elementsOf(prop)) {
        const { namespace, name } = element
        const text = isModificationTime(element) || isChecksums(element) ? textOf(element) : ''
        const mtime = isSet && isModificationTime(element) ? parseModificationTime(element, text) : undefined
        changes.push({ namespace, name, text, xml: isSet ? serialize(element, language) : undefined, mtime })
      }
    }
  }
  if (changes.length === 0 || changes.length > MAX_CHANGES) {
    throw davError(400, 'The XML of the request changes no properties, or too many.')
  }
  return changes
}

function textOf({ content }: XmlElement): string {
  return content.map((one) => (typeof one === 'string' ? one : textOf(one))).join('')
}
