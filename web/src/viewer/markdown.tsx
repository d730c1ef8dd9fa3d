import { lexer, type MarkedToken, type Token } from 'marked'
import { createElement, Fragment, type ReactNode, useMemo } from 'react'
import { useTexts } from '../texts/index.ts'
import { InlineImage, InlineLink } from './markdown-inline.tsx'
import { headingId, withCharacters } from './markdown-links.ts'
import type { OpenedFile } from './opened-file.ts'

/** Longer texts are shown as plain text, because rendering them would block the page. */
const MAX_CHARACTERS = 500_000
const DEEPEST = 40

/**
 * Renders Markdown as React elements from the parser's tokens. HTML in the source is never parsed; tags are shown
 * as text.
 */
export default function Markdown(props: { text: string; file: OpenedFile }) {
  const { text, file } = props
  const texts = useTexts('viewer')
  const tokens = useMemo(() => tokensOf(text), [text])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the page is scrolled by keyboard.
    <section className="viewer-markdown" aria-label={texts.previewOf(file.name)} tabIndex={0}>
      <div className="markdown" dir="auto">
        {tokens === undefined ? <pre>{text}</pre> : many(tokens, { file, depth: 0 })}
      </div>
    </section>
  )
}

function tokensOf(text: string): Token[] | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  try {
    return lexer(text, { gfm: true })
  } catch {
    // Nested too deeply for the parser.
    return undefined
  }
}

interface Around {
  readonly file: OpenedFile
  readonly depth: number
}

function many(tokens: readonly Token[] | undefined, around: Around): ReactNode {
  if (tokens === undefined) return null
  if (around.depth > DEEPEST) return tokens.map(({ raw }) => raw).join('')
  const inner = { ...around, depth: around.depth + 1 }
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no names; a changed text is read anew as a whole.
  return tokens.map((token, index) => <Fragment key={index}>{one(token as MarkedToken, inner)}</Fragment>)
}

function one(token: MarkedToken, around: Around): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      // The file name is the h1 of the page.
      return createElement(
        `h${Math.min(6, token.depth + 1)}`,
        { id: headingId(withCharacters(token.text)), className: `markdown-h${token.depth}` },
        many(token.tokens, around),
      )
    case 'paragraph':
      return <p>{many(token.tokens, around)}</p>
    case 'blockquote':
      return <blockquote>{many(token.tokens, around)}</blockquote>
    case 'hr':
      return <hr />
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard.
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      )
    case 'list':
      return createElement(
        token.ordered ? 'ol' : 'ul',
        token.ordered && typeof token.start === 'number' && token.start !== 1 ? { start: token.start } : null,
        token.items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no names.
          <li key={index} className={item.task ? 'markdown-task' : undefined}>
            {many(item.tokens, around)}
          </li>
        )),
      )
    case 'table':
      return <Table token={token} around={around} />
    case 'html':
      return token.block ? <pre className="markdown-raw">{token.text}</pre> : token.raw
    case 'strong':
      return <strong>{many(token.tokens, around)}</strong>
    case 'em':
      return <em>{many(token.tokens, around)}</em>
    case 'del':
      return <del>{many(token.tokens, around)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'checkbox':
      return <Task checked={token.checked} />
    case 'link':
      return (
        <InlineLink file={around.file} href={withCharacters(token.href)} title={token.title}>
          {many(token.tokens, around)}
        </InlineLink>
      )
    case 'image':
      return (
        <InlineImage file={around.file} href={withCharacters(token.href)} alt={withCharacters(token.text)} />
      )
    case 'text':
      return token.tokens ? many(token.tokens, around) : withCharacters(token.text)
    case 'escape':
      return token.text
    default:
      return (token as Token).raw
  }
}

function Table({ token, around }: { token: Extract<MarkedToken, { type: 'table' }>; around: Around }) {
  const side = (index: number) => {
    const align = token.align[index]
    return align ? { style: { textAlign: align } } : {}
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled by keyboard.
    <div className="markdown-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells have no names.
              <th key={index} scope="col" {...side(index)}>
                {many(cell.tokens, around)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no names.
            <tr key={index}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no names.
                <td key={column} {...side(column)}>
                  {many(cell.tokens, around)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Task({ checked }: { checked: boolean }) {
  const texts = useTexts('viewer')
  return (
    <span className="markdown-check" role="img" aria-label={checked ? texts.taskDone : texts.taskOpen}>
      {checked ? '☑' : '☐'}
    </span>
  )
}
