/** What the library asks for instead of creating an element itself. */
interface ElementOrder {
  readonly ns?: string
  readonly tagName: string
  readonly className?: string
  readonly style?: Record<string, string> | string
  readonly children?: readonly (ElementOrder | Node | string)[]
  readonly [property: string]: unknown
}

/**
 * Elements that could load or run something, change an attribute later, or hold nodes that are not searched. A document needs none of them.
 */
const REFUSED_ELEMENTS =
  /^(?:script|i?frame|frameset|fencedframe|object|embed|link|meta|base|form|input|button|textarea|select|portal|foreignobject|template|slot|noscript|audio|video|source|track|area|set|animate\w*)$/i
/** Attributes with addresses. */
const ADDRESSES =
  /^(?:href|src|srcset|imagesrcset|action|formaction|data|poster|background|ping|cite|longdesc)$/i
/** Properties that would parse markup or run a script. */
const REFUSED_PROPERTIES = /^(?:on|srcdoc|innerHTML|outerHTML|action|formAction)/i
const FRAGMENT = '#fragment'
const COMMENT = '#comment'

/**
 * Creates elements for the library in `inert`, a document that is never shown: nothing in it runs, loads or is bound by the content
 * security policy. Styles are set through the object model, which the policy of the app allows.
 */
export function elementsIn(inert: Document): (order: ElementOrder | Node | string) => Node {
  const create = (order: ElementOrder | Node | string): Node => {
    if (typeof order === 'string') return inert.createTextNode(order)
    if (order instanceof Node) return order
    const { ns, tagName, className, style, children = [], ...properties } = order
    if (tagName === COMMENT) return inert.createComment('')
    const parent = tagName === FRAGMENT ? inert.createDocumentFragment() : elementOf(inert, tagName, ns)
    if (parent instanceof Element) {
      if (className !== undefined && className !== '') parent.setAttribute('class', className)
      if (style !== undefined) applyStyle(parent as HTMLElement, style)
      for (const [name, value] of Object.entries(properties)) {
        if (value !== undefined && !REFUSED_PROPERTIES.test(name)) Object.assign(parent, { [name]: value })
      }
    }
    for (const child of children) parent.appendChild(create(child))
    return parent
  }
  return create
}

function elementOf(inert: Document, tagName: string, ns: string | undefined): Element {
  const safe = REFUSED_ELEMENTS.test(tagName) ? 'span' : tagName
  return ns === undefined || safe !== tagName ? inert.createElement(safe) : inert.createElementNS(ns, safe)
}

function applyStyle(element: HTMLElement, style: Record<string, string> | string): void {
  if (typeof style === 'string') element.style.cssText = style
  else Object.assign(element.style, style)
}

/**
 * Removes elements that are refused, and what others may not have: scripts in attributes, and links other than to web sites, mail and places in
 * the document.
 */
export function sanitize(root: ParentNode): void {
  for (const element of root.querySelectorAll('*')) {
    if (REFUSED_ELEMENTS.test(element.localName)) {
      element.remove()
      continue
    }
    // Copied: the list is live, and after a removal the next attribute would be skipped.
    for (const attribute of Array.from(element.attributes)) {
      const { localName, value } = attribute
      const isRefused =
        /^(?:on|srcdoc)/i.test(localName) || (ADDRESSES.test(localName) && !isHarmless(element, value))
      if (isRefused) element.removeAttributeNode(attribute)
    }
    if (element.localName !== 'a') continue
    const href = element.getAttribute('href') ?? ''
    if (href.startsWith('#')) continue
    element.setAttribute('target', '_blank')
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  }
}

function isHarmless(element: Element, url: string): boolean {
  if (url.startsWith('#')) return true
  // Pictures are in the file, and are passed as data. Others would tell a server that the document was opened.
  return element.localName === 'a' ? /^(?:https?|mailto):/i.test(url) : /^data:image\//i.test(url)
}
