import {
  Archive,
  BookOpen,
  Code,
  File,
  FileImage,
  FileSpreadsheet,
  FileText,
  Film,
  Folder,
  type LucideIcon,
  Music,
  Presentation,
} from 'lucide-react'
import { kindOf } from '../file-kinds.ts'

const icons: Readonly<Record<ReturnType<typeof kindOf>, LucideIcon>> = {
  image: FileImage,
  video: Film,
  audio: Music,
  pdf: BookOpen,
  markdown: FileText,
  text: FileText,
  code: Code,
  document: FileText,
  spreadsheet: FileSpreadsheet,
  presentation: Presentation,
  archive: Archive,
  other: File,
}

/** Icon of a file by its kind, or of a folder. */
export function FileIcon(props: { name: string; isDir?: boolean; size?: number }) {
  const { name, isDir = false, size = 22 } = props
  const Icon = isDir ? Folder : icons[kindOf(name)]
  return (
    <Icon
      size={size}
      aria-hidden
      className={`file-icon ${isDir ? 'file-icon-folder' : `file-icon-${kindOf(name)}`}`}
      strokeWidth={1.6}
    />
  )
}
