"""What CutCraft's paper leaves open, or what its code does otherwise here, and how it is decided."""

from __future__ import annotations

from evaluator.suites.choices import Choice

CHOICES = (
    Choice(
        "shots",
        "TransNetV2 as its authors run it, flashes and wipes by what they are; the script's count is not known",
        "the code adds cuts until the script's number is reached",
        "profile compat",
    ),
    Choice(
        "pictures shown to the judge",
        "four a second, at most 512 pixels; at most 32 of a clip, 12 of a shot or a moment",
        "the file itself, shrunk to 360 lines and 15 pictures a second if it is large",
    ),
    Choice(
        "alignment",
        "a label per segment, valid only if every segment has one of the script; else presence and times; else order",
        "the same two questions, always both; any list is cut or filled",
        "without a judge: order, in rows of their own",
    ),
    Choice(
        "questions",
        "one token each; options in an order drawn from the question's id",
        "free text from which a letter is guessed; options as stored, where A2's key is nearly always A",
        "profile compat",
    ),
    Choice("A3 counterfactual", "one question per cut, one token", "one list of all cuts of a sequence"),
    Choice(
        "A4 threads",
        "pictures of the clip that lie inside a thread's shots",
        "the shots are cut out, joined and sampled anew",
    ),
    Choice(
        "B2, B3 music",
        "drums, bass and other stems, by the code's rules, where htdemucs is mounted; else the whole mix, music if its "
        "level is above 0.015, for nothing can stand in for stems; the record says which",
        "stems of Demucs; the whole mix where it fails, unsaid",
        "mount htdemucs/htdemucs.onnx",
    ),
    Choice(
        "stems",
        "windows of 7.8 s from the first sample on: equal sound, equal stems",
        "shifted by a random part of half a second first (D-33)",
        "none: a random shift cannot be reproduced, in compat neither",
    ),
    Choice("B3, D1 tags of sound", "YAMNet, 521 classes", "PANNs CNN14: 2048 features and 527 tags"),
    Choice(
        "B3 without a mood in the script",
        "the rhythm alone",
        "0.5 for the mood",
        "profile compat",
    ),
    Choice("C1 hit", "the montage named by the seed", "its name anywhere in the editing style", "profile compat"),
    Choice(
        "D3",
        "both shots' own sounds against the moments around the cut; the judge where both sound alike",
        "speech, fixed blocks of 0.8 s, objects and changes in stems, then the judge, then what the stems suggest",
        "profile compat; without htdemucs mounted, speech of the mix, blocks and the judge",
    ),
    Choice(
        "D3 speech",
        "compat only: Whisper once, on the vocals stem where htdemucs is mounted; times of utterances, not of words",
        "Whisper on the mix, and again on the vocals stem, which is what counts; times of words",
    ),
    Choice(
        "D1 transitions without an answer",
        "left out of the mean and named (`unanswered`): a judge that failed says nothing about a transition",
        "a sum over all transitions: a failed call ends the mode, and what was not evaluated counts 0",
    ),
    Choice(
        "E1 zoom beside a camera movement",
        "either is right; a dolly zoom counts as a zoom, for a question has at most 13 options",
        "the code asks for the zoom only",
        "profile compat",
    ),
    Choice(
        "E1 motion of the camera",
        "optical flow of the shot: MonST3R, which gives camera poses, is not here; no other dimension used it",
        "MonST3R on the first 3.7 s of the clip, told of every shot (D-03)",
        "profile compat tells the flow of the first 3.7 s of every shot",
    ),
    Choice(
        "E1, D1 evidence",
        "flow, largest face, sharpness; no camera poses, scale classifier, saliency or head pose",
        "MonST3R, CLIP, YOLO, saliency, 6DRepNet, most of them read at the wrong place",
        "profile compat tells the constants that the code tells",
    ),
    Choice(
        "words on screen",
        "not read and not told to the judge",
        "no expert reads text; the judge sees the pictures alone",
        "data.text_fps (--set text_fps=1): read by capability text_spotting, told to A2, A3, C1 and D1",
    ),
    Choice("E2", "whatever serves frame_aesthetics, a tenth of it", "LAION head on CLIP ViT-L/14, a tenth of it"),
    Choice(
        "what cannot be measured",
        "left out and named",
        "0.5 or 0, and the sample counts as complete",
        "profile compat",
    ),
    Choice("six groups", "A to F by letter", "six groups, membership by letter as we read it", "groups.json"),
    Choice("two groups", "groups.json, a guess", "editability and supporting; membership not given", "groups.json"),
    Choice("families of montage", "groups.json, a guess", "43.1 / 35.9 / 21.0 %, membership not given", "groups.json"),
    Choice(
        "intervals and tests",
        "prompts drawn with replacement, 95 %, 2,000 draws for intervals and 10,000 for p; Holm at 0.05",
        "intervals and 71 of 78 pairs significant; settings not given",
    ),
)
