const categories = new Map(
  Object.entries({
    text: `ac am bat c cc cmake cpp cs css diff el h html htm java js json less make org php pl properties py rb scala script sh sql
      txt text tex vi vim xhtml xml log csv groovy rst patch go`,
    document: 'doc docx ppt pptx odt fodt odp fodp',
    spreadsheet: 'xls xlsx ods fods',
    image: 'gif jpeg jpg png ico bmp tif tiff eps',
    svg: 'svg',
    video: 'mp4 ogv webm mov',
    audio: 'mp3 oga ogg',
    '3d': 'stl obj',
    pdf: 'pdf',
    markdown: 'markdown md',
    sdoc: 'sdoc',
  }).map(([name, endings]) => [name, endings.split(/\s+/)]),
)

/** The extensions of a file category (case-insensitive); undefined for an unknown one. */
export function extensionsOf(category: string): readonly string[] | undefined {
  return categories.get(category.toLowerCase())
}

/** The extension of a name in lower case; '' for none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
}

export function isImage(name: string): boolean {
  return categories.get('image')?.includes(extensionOf(name)) ?? false
}
