import { useQuery } from '@tanstack/react-query'
import { ImageOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { drawingQuery, linkQuery } from '../api/index.ts'
import { isSvg, kindOf } from '../file-kinds.ts'
import { fileUrl, folderUrl, revisionUrl } from '../navigation/index.ts'
import { targetOf } from './markdown-links.ts'
import type { OpenedFile } from './opened-file.ts'

/** A link in a document. Unsafe targets are shown as text. */
export function InlineLink(props: {
  file: OpenedFile
  href: string
  title?: string | null | undefined
  children: ReactNode
}) {
  const { file, href, children } = props
  const target = targetOf(file.path, href)
  const title = props.title ?? undefined
  if (target === undefined) return <span title={title}>{children}</span>
  if (target.kind === 'away') {
    return (
      <a href={target.href} title={title} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    )
  }
  if (target.kind === 'heading') {
    const scroll = () => document.getElementById(target.id)?.scrollIntoView()
    return (
      <button type="button" className="markdown-jump" title={title} onClick={scroll}>
        {children}
      </button>
    )
  }
  return (
    <Link to={addressOf(file, target.path, target.isFolder)} title={title}>
      {children}
    </Link>
  )
}

function addressOf({ libraryId, commitId }: OpenedFile, path: string, isFolder: boolean): string {
  if (isFolder || path === '/') return folderUrl(libraryId, path)
  return commitId === undefined ? fileUrl(libraryId, path) : revisionUrl(libraryId, path, commitId)
}

/** An image of the same library. External images are not loaded, because they would reveal the reader. */
export function InlineImage(props: { file: OpenedFile; href: string; alt: string }) {
  const { file, href, alt } = props
  const target = targetOf(file.path, href)
  if (target?.kind === 'inside' && kindOf(target.path) === 'image') {
    return <LibraryImage file={file} path={target.path} alt={alt} />
  }
  const label = alt || href
  if (target?.kind !== 'away') return <MissingImage label={label} />
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer nofollow">
      <MissingImage label={label} />
    </a>
  )
}

function LibraryImage(props: { file: OpenedFile; path: string; alt: string }) {
  const { file, path, alt } = props
  const { libraryId, commitId } = file
  const image = { libraryId, path, id: '', commitId }
  const { data: link, isError } = useQuery(isSvg(path) ? drawingQuery(image) : linkQuery(image))
  const [isBroken, setBroken] = useState(false)
  if (isError || isBroken) return <MissingImage label={alt || path} />
  if (link === undefined) return null
  return <img src={link} alt={alt} loading="lazy" onError={() => setBroken(true)} />
}

function MissingImage({ label }: { label: string }) {
  return (
    <span className="markdown-missing">
      <ImageOff size={15} aria-hidden /> {label}
    </span>
  )
}
