// Extensions that the web app can show, and those that it can edit.

const text = new Set(
  `ac am asm bat bib c cc cfg clj cmake cmd conf cpp cs css csv cxx dart diff el erl ex go gradle groovy h hpp hs htm html
   ini java jl js json jsx kt less lisp log lua m make markdown md mjs ml mm nix org patch php pl pm properties ps1 py r rb rs
   rst sass scala scss sh sql swift tcl tex toml ts tsx txt vb vim vue xhtml xml yaml yml zig zsh`.split(
    /\s+/,
  ),
)

const otherwiseShown = new Set(
  `avif bmp gif ico jpeg jpg png svg tif tiff webp pdf flac m4a mp3 oga ogg opus wav m4v mov mp4 ogv webm`.split(
    /\s+/,
  ),
)

export function canEdit(name: string): boolean {
  return text.has(extensionOf(name))
}

export function canPreview(name: string): boolean {
  const extension = extensionOf(name)
  return text.has(extension) || otherwiseShown.has(extension)
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
}
