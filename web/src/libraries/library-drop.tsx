import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { folderAddress } from '../addresses.ts'
import { canEdit, type LibraryItem } from '../api/libraries.ts'
import type { Place } from '../files/folder-picker.tsx'
import { useFormats } from '../format.ts'
import { useTexts } from '../texts/texts.tsx'
import { FileDrop } from '../uploads/drop-zone.tsx'
import type { Gathered } from '../uploads/gathering.ts'
import { addUploads } from '../uploads/uploads.ts'
import { useFirstUpload } from './first-upload.ts'

const FolderPicker = lazy(() =>
  import('../files/folder-picker.tsx').then(({ FolderPicker }) => ({ default: FolderPicker })),
)

/** Takes files dropped on the list of libraries: into the one that is chosen then, or into the first of all. */
export function LibraryDrop(props: { libraries: readonly LibraryItem[] | undefined; children: ReactNode }) {
  const { libraries } = props
  const { start } = useFirstUpload()
  const [dropped, setDropped] = useState<Gathered>()
  function take(gathered: Gathered): void {
    const { files, emptyFolders } = gathered
    // Nothing of it could be read, which is told elsewhere.
    if (files.length + emptyFolders.length === 0) return
    if (libraries?.some(canEdit)) setDropped(gathered)
    else void start(files, emptyFolders)
  }
  return (
    <FileDrop where={undefined} onDropped={libraries && take}>
      {props.children}
      {dropped && (
        <ChoosePlace
          dropped={dropped}
          start={likeliest(libraries ?? [])}
          onClose={() => setDropped(undefined)}
        />
      )}
    </FileDrop>
  )
}

/** The library that was worked in last, of those that open without a password. */
function likeliest(libraries: readonly LibraryItem[]): Place | undefined {
  const [newest] = libraries
    .filter((library) => canEdit(library) && !library.encrypted)
    .toSorted((a, b) => b.last_modified.localeCompare(a.last_modified))
  return newest && { libraryId: newest.repo_id, libraryName: newest.repo_name, path: '/' }
}

function ChoosePlace(props: { dropped: Gathered; start: Place | undefined; onClose: () => void }) {
  const { files, emptyFolders } = props.dropped
  const texts = useTexts('uploads')
  const formats = useFormats()
  const [, go] = useLocation()
  const count = files.length + emptyFolders.length
  return (
    <Suspense>
      <FolderPicker
        title={texts.uploadTo(count, formats.number(count))}
        submit={texts.uploadHere}
        {...(props.start && { start: props.start })}
        onChoose={async (place) => {
          addUploads(place, files, emptyFolders)
          go(folderAddress(place.libraryId, place.path))
        }}
        onClose={props.onClose}
      />
    </Suspense>
  )
}
