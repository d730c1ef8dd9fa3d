// Renders the API description. All text goes into text nodes, so the description cannot add markup.

const description = await (await fetch(new URL('../api/openapi.json', import.meta.url))).json()
const list = document.getElementById('operations')
const filter = document.getElementById('filter')
const count = document.getElementById('count')

/** An element with text or other elements in it. Text in backticks is shown as code. */
function element(name, className, ...children) {
  const made = document.createElement(name)
  if (className) made.className = className
  for (const child of children.flat()) if (child !== undefined) made.append(child)
  return made
}

const code = (text) => element('code', '', text)
const prose = (text = '') => text.split('`').map((part, index) => (index % 2 === 1 ? code(part) : part))

function resolved(value) {
  if (value?.$ref === undefined) return value ?? {}
  return value.$ref
    .split('/')
    .slice(1)
    .reduce((here, key) => here[key], description)
}

const nameOf = (schema) => schema.$ref?.split('/').at(-1)

function typeOf(schema) {
  const here = resolved(schema)
  if (here.const !== undefined) return JSON.stringify(here.const)
  if (here.enum) return here.enum.map((word) => JSON.stringify(word)).join(' | ')
  if (here.anyOf) return here.anyOf.map(typeOf).join(' | ')
  if (here.prefixItems) return `[${here.prefixItems.map(typeOf).join(', ')}]`
  if (here.type === 'array') return `array of ${typeOf(here.items ?? {})}`
  if (here.additionalProperties) return `object of ${typeOf(here.additionalProperties)}`
  return here.type === 'object' ? (nameOf(schema) ?? 'object') : (here.type ?? 'anything')
}

/** The fields of a schema, of its variants, or of its items. */
function fieldsOf(schema) {
  const here = resolved(schema)
  if (here.type === 'array') return fieldsOf(here.items ?? {})
  if (here.additionalProperties) return fieldsOf(here.additionalProperties)
  if (here.anyOf) {
    return here.anyOf.flatMap((variant) => {
      const fields = fieldsOf(variant)
      return fields.length > 0 ? [element('p', 'type', typeOf(variant)), ...fields] : []
    })
  }
  const entries = Object.entries(here.properties ?? {})
  if (entries.length === 0) return []
  const required = new Set(here.required ?? [])
  return [
    element(
      'ul',
      '',
      entries.map(([name, field]) => fieldItem(name, field, !required.has(name))),
    ),
  ]
}

function fieldItem(name, field, isOptional) {
  const about = resolved(field).description
  return element(
    'li',
    '',
    code(name),
    element('span', 'type', ` ${typeOf(field)}${isOptional ? ', optional' : ''} `),
    ...prose(about),
    fieldsOf(field),
  )
}

function credentialOf({ security }) {
  const [needed] = security
  if (needed === undefined) return 'none'
  if (needed.libraryToken) return 'the token of a library'
  const roles = needed.token
  if (roles.includes('admin')) return 'the API token of an administrator'
  return roles.length === 0
    ? 'an API token'
    : `an API token, or a personal token with the scope \`${roles[0]}\``
}

function parameterItem({ name, in: place, required, description: about, schema }) {
  const suffix = `, in the ${place}${required ? '' : ', optional'} `
  return element(
    'li',
    '',
    code(name),
    element('span', 'type', ` ${typeOf(schema)}${suffix}`),
    ...prose(about),
  )
}

function responseItem([status, response]) {
  const { description: about, content = {}, headers = {} } = resolved(response)
  const shown = element('li', '', element('strong', '', status), ' ', ...prose(about))
  for (const [name, header] of Object.entries(headers)) {
    shown.append(element('div', '', 'Header ', code(name), ': ', ...prose(header.description)))
  }
  // The errors that every call can answer. The introduction says what they contain.
  if (response.$ref !== undefined) return shown
  for (const [type, { schema, example }] of Object.entries(content)) {
    shown.append(element('div', 'type', schema ? `${type}: ${typeOf(schema)}` : type))
    if (schema) shown.append(...fieldsOf(schema))
    if (example === undefined) continue
    const text = element('pre', '', JSON.stringify(example, undefined, 2))
    // Wide examples scroll, also by the keyboard.
    text.tabIndex = 0
    shown.append(text)
  }
  return shown
}

function detailOf(operation) {
  const parts = [element('p', '', 'Credential: ', ...prose(credentialOf(operation)), '.')]
  const note = operation['x-compatibility']?.note
  if (note !== undefined) parts.push(element('p', 'note', 'Unlike the original server: ', ...prose(note)))
  if (operation['x-body-limit']) {
    parts.push(element('p', 'note', `Bodies have at most ${operation['x-body-limit']} bytes.`))
  }
  if (operation.parameters.length > 0) {
    parts.push(element('h3', '', 'Parameters'), element('ul', '', operation.parameters.map(parameterItem)))
  }
  const content = Object.entries(operation.requestBody?.content ?? {})
  if (content.length > 0) {
    const types = content.map(([type]) => type).join(', ')
    parts.push(
      element('h3', '', 'Body'),
      element('p', 'type', types),
      ...fieldsOf(content[0][1].schema ?? {}),
    )
  }
  parts.push(
    element('h3', '', 'Responses'),
    element('ul', '', Object.entries(operation.responses).map(responseItem)),
  )
  return element('div', 'body', ...parts)
}

/** One operation. Its details are rendered when they are opened first. */
function operationElement(method, path, operation) {
  const shown = element(
    'details',
    '',
    element(
      'summary',
      '',
      element('span', 'method', method),
      code(path),
      operation.deprecated ? element('span', 'warning', ' deprecated') : undefined,
      element('span', 'about', ...prose(operation.summary)),
    ),
  )
  shown.id = operation.operationId
  shown.addEventListener('toggle', () => {
    if (shown.open && shown.children.length === 1) shown.append(detailOf(operation))
  })
  return { shown, words: `${method} ${path} ${operation.summary}`.toLowerCase() }
}

const groups = new Map()
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const [tag] = operation.tags
    if (!groups.has(tag)) groups.set(tag, [])
    groups.get(tag).push(operationElement(method.toUpperCase(), path, operation))
  }
}
const sections = [...groups]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([tag, operations]) => {
    const shown = element(
      'section',
      '',
      element('h2', '', tag),
      operations.map((one) => one.shown),
    )
    list.append(shown)
    return { shown, operations }
  })

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  let found = 0
  for (const { shown, operations } of sections) {
    let here = 0
    for (const operation of operations) {
      const matches = words.every((word) => operation.words.includes(word))
      operation.shown.hidden = !matches
      if (matches) here += 1
    }
    shown.hidden = here === 0
    found += here
  }
  count.textContent = `${found} calls`
}

document.getElementById('introduction').append(...prose(description.info.description))
filter.addEventListener('input', applyFilter)
applyFilter()
const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)))
if (linked?.localName === 'details') {
  linked.open = true
  linked.scrollIntoView()
}
