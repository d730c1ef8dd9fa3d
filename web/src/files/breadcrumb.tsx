import { ChevronRight, Ellipsis } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { folderUrl } from '../navigation/index.ts'
import { ancestorsOf, nameOf, parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { IconButton, Menu, NARROW, useMedia, visibleName } from '../ui/index.ts'
import { useFileDropPlace } from '../uploads/index.ts'
import { bothHandlers, type OnDropped, useDropPlace } from './drag-and-drop.ts'
import { activateChild } from './folder-visits.ts'

interface Step {
  readonly name: string
  readonly path: string
}

/** Path from the library list to a folder. Folders in the middle collapse into a menu on narrow screens. */
export function Breadcrumb(props: {
  libraryId: string
  libraryName: string
  path: string
  onDropped: OnDropped | undefined
}) {
  const { libraryId, libraryName, path } = props
  const texts = useTexts('files')
  const narrow = useMedia(NARROW)
  const [, go] = useLocation()
  const above: Step[] = path === '/' ? [] : [{ name: libraryName, path: '/' }, ...ancestorsOf(parentOf(path))]
  const room = narrow ? 1 : 3
  const folded = above.length > room ? above.slice(narrow ? 0 : 1, -(room - 1) || undefined) : []
  const shown = above.filter((step) => !folded.includes(step))
  const fold = folded.length > 0 && (
    <li key="fold">
      <Menu
        align="start"
        trigger={<IconButton label={texts.foldersAbove} icon={Ellipsis} />}
        entries={folded.map((step) => ({
          label: step.name,
          onSelect: () => go(folderUrl(libraryId, step.path)),
        }))}
      />
      <Separator />
    </li>
  )
  const crumbs = shown.map((step) => <Crumb key={step.path} {...props} step={step} />)
  const name = path === '/' ? libraryName : nameOf(path)
  return (
    <nav aria-label={texts.path} className="files-path">
      <ol>
        {!narrow && (
          <li>
            <Link to="/" className="files-crumb">
              {texts.libraries}
            </Link>
            <Separator />
          </li>
        )}
        {narrow ? fold : crumbs[0]}
        {narrow ? crumbs : [fold, ...crumbs.slice(1)]}
        <li className="files-here">
          <h1 title={name} aria-current="page">
            <bdi>{visibleName(name)}</bdi>
          </h1>
        </li>
      </ol>
    </nav>
  )
}

function Crumb(props: Parameters<typeof Breadcrumb>[0] & { step: Step }) {
  const { libraryId, libraryName, step, path: from, onDropped } = props
  const entries = useDropPlace(libraryId, step.path, onDropped)
  const files = useFileDropPlace(onDropped && { libraryId, libraryName, path: step.path })
  return (
    <li>
      <Link
        to={folderUrl(libraryId, step.path)}
        className={`files-crumb${entries.over || files.over ? ' files-drop' : ''}`}
        title={step.name}
        draggable={false}
        onClick={() => activateChild(libraryId, step.path, from)}
        {...bothHandlers(entries.handlers, files.handlers)}
      >
        <bdi>{visibleName(step.name)}</bdi>
      </Link>
      <Separator />
    </li>
  )
}

function Separator() {
  return <ChevronRight size={16} aria-hidden className="files-separator" />
}
