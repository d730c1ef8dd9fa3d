import type { ReactNode } from 'react'
import { kindOf } from '../file-kinds.ts'

// Two tones each: `soft` is the area of the icon, `strong` the mark on it. The style sheet gives every kind its color.
const PAGE = 'M6 2h8l5 5v13a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2z'
const FOLD = 'M14 2l5 5h-3.5A1.5 1.5 0 0 1 14 5.500z'
const FRAME = 'M5 4h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z'

const page = (mark: string) => icon(PAGE, `${FOLD}${mark}`)
const frame = (mark: string) => icon(FRAME, mark)

function icon(soft: string, strong: string): ReactNode {
  return (
    <>
      <path className="file-icon-soft" d={soft} />
      <path className="file-icon-strong" d={strong} />
    </>
  )
}

const bar = (x: number, y: number, width: number) =>
  `M${x} ${y}h${width}a.75.75 0 0 1 0 1.500h-${width}a.75.75 0 0 1 0-1.500z`

const icons: Readonly<Record<ReturnType<typeof kindOf> | 'folder', ReactNode>> = {
  folder: icon(
    'M2 9h20v9a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2z',
    'M4 4h5.200a2 2 0 0 1 1.4.6L12 6h8a2 2 0 0 1 2 2v1.500H2V6a2 2 0 0 1 2-2z',
  ),
  image: frame('M8 8a1.7 1.7 0 1 1 0 3.400A1.7 1.7 0 0 1 8 8zM4.5 18l4.5-5 3 3.2 3-4 4.5 5.800z'),
  video: frame('M10 8.200a.6.6 0 0 1 .9-.5l5.8 3.800a.6.6 0 0 1 0 1l-5.8 3.800a.6.6 0 0 1-.9-.5z'),
  audio: frame(
    'M10 8.300l6.5-1.500v7.600a1.9 1.9 0 1 1-1.3-1.800V9.400L11.3 10.300v5.700A1.9 1.9 0 1 1 10 14.200z',
  ),
  pdf: page('M4 12.500h15v6H4z'),
  markdown: page('M7 17.500v-5h1.400l1.6 2 1.6-2H13v5h-1.400v-2.900L10 16.600l-1.6-2v2.900z'),
  text: page(`${bar(7.5, 11, 8)}${bar(7.5, 14, 8)}${bar(7.5, 17, 5)}`),
  code: page('M9.7 11.500l1 1L8.8 14.500l1.9 2-1 1L6.7 14.500zM13.3 11.500l3 3-3 3-1-1 1.9-2-1.9-2z'),
  document: page(`${bar(7.5, 9.5, 4)}${bar(7.5, 12.5, 8)}${bar(7.5, 15.5, 8)}${bar(7.5, 18.5, 5)}`),
  spreadsheet: frame('M6 8h5v3H6zM13 8h5v3h-5zM6 13h5v3H6zM13 13h5v3h-5z'),
  presentation: frame('M7 16v-4h2.200v4zM10.9 16V8.500h2.200V16zM14.8 16v-5.500H17V16z'),
  archive: page('M9 2h2v2H9zM11 4h2v2h-2zM9 6h2v2H9zM11 8h2v2h-2zM9 10h2v2H9zM9.5 13h3v4.500h-3z'),
  other: page(''),
}

/** Icon of a file by its kind, or of a folder. */
export function FileIcon(props: { name: string; isDir?: boolean; size?: number }) {
  const { name, isDir = false, size = 24 } = props
  const kind = isDir ? 'folder' : kindOf(name)
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden className={`file-icon file-icon-${kind}`}>
      {icons[kind]}
    </svg>
  )
}
