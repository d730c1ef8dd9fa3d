import { type ReactNode, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { canEdit, type LibraryItem } from '../api/index.ts'
import type { Place } from '../files/index.ts'
import { LazyFolderPicker } from '../files/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { addScan, FileDrop, type UploadScan } from '../uploads/index.ts'
import { useFirstUpload } from './use-first-upload.ts'

/** Accepts files dropped on the list of libraries, and asks for the target folder. The first upload creates a library. */
export function LibraryDrop(props: { libraries: readonly LibraryItem[] | undefined; children: ReactNode }) {
  const { libraries } = props
  const { start } = useFirstUpload()
  const [dropped, setDropped] = useState<UploadScan>()
  function take(scan: UploadScan): void {
    if (libraries?.some(canEdit)) setDropped(scan)
    else void start(scan)
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

/** The most recently modified library that is not encrypted. */
function likeliest(libraries: readonly LibraryItem[]): Place | undefined {
  const [newest] = libraries
    .filter((library) => canEdit(library) && !library.encrypted)
    .toSorted((a, b) => b.last_modified.localeCompare(a.last_modified))
  return newest && { libraryId: newest.repo_id, libraryName: newest.repo_name, path: '/' }
}

function ChoosePlace(props: { dropped: UploadScan; start: Place | undefined; onClose: () => void }) {
  const texts = useTexts('uploads')
  const formats = useFormats()
  const [, go] = useLocation()
  // The files in dropped folders are counted only when they are uploaded.
  const count = props.dropped.tops.length
  return (
    <Suspense>
      <LazyFolderPicker
        title={texts.uploadTo(count, formats.number(count))}
        submit={texts.uploadHere}
        {...(props.start && { start: props.start })}
        onChoose={async (place) => {
          void addScan(place, props.dropped)
          go(folderUrl(place.libraryId, place.path))
        }}
        onClose={props.onClose}
      />
    </Suspense>
  )
}
