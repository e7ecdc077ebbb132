// The address of a question, to bookmark and to go back to: #fr/roi, or #fr/de/roi where the target is not the usual one.
export function address({ source, target, text }, languages) {
  const usual = target === languages.defaultTarget(source);
  const parts = usual ? [source, text] : [source, target, text];
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

// The question of an address; null if there is none, or about other languages.
export function question(hash, languages) {
  const parts = hash.replace(/^#/, "").split("/").map(decoded);
  if (parts.length < 2 || parts.length > 3 || parts.includes(null)) return null;
  const [source, text] = [parts[0], parts.at(-1)];
  const target = parts.length === 3 ? parts[1] : languages.defaultTarget(source);
  const known = [source, target].every((code) => languages.codes.includes(code));
  return known && source !== target && text ? { source, target, text } : null;
}

// The languages of an address that the space lacks, such as de in #de/König where it has French and English.
export function strangers(hash, languages) {
  const parts = hash.replace(/^#/, "").split("/").map(decoded);
  if (parts.length < 2 || parts.length > 3 || parts.includes(null)) return [];
  return parts.slice(0, -1).filter((code) => !languages.codes.includes(code));
}

// Adds a question to the way back, and its address to the window's.
export function remember(asked, languages) {
  const hash = address(asked, languages);
  if (hash !== location.hash) history.pushState(null, "", hash);
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
