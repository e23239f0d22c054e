def r = args.collect { it.toUpperCase() }
return "file " + r + Parameters + FileName.tokenize("/").last()
